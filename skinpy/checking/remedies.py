"""A level and a remedy for each code of the loader's report.

Every load imports this module when it warns of a loss, so it imports little itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..assets import ReportEntry
    from .findings import Level

_WEIGHTS = "normalize the weights before exporting"
_BIND = "bind the mesh to its joints again, and export both together"
_NOTHING = "nothing, unless the target program does not do the same"
_UNSUPPORTED = "bake what is lost into plain joint keys or morph targets before exporting"
_NOT_DRAWN = "nothing, or bake the look into the texture of the base color"
_OWN_NAME = "give each clip a name of its own"

#: By code. An error means that the file contradicts itself, so that programs interpret it differently.
MEANING: dict[str, tuple[Level, str]] = {
    "weights_normalized": ("warning", _WEIGHTS),
    "weights_repaired": ("error", "remove weights that are negative or not a number"),
    "weights_dropped": ("error", _BIND),
    "weight_positions_lost": ("warning", "export the rest pose in which the mesh was bound"),
    "influences_dropped": ("warning", "limit the influences per vertex before exporting"),
    "influences_merged": ("note", "merge the influences of one joint before exporting"),
    "joint_index_out_of_range": ("error", _BIND),
    "vertices_unweighted": ("warning", "paint weights for these vertices, or bind them to one joint"),
    "bones_without_node": ("error", "export the joints together with the mesh"),
    "inverse_bind_missing": ("warning", "export inverse bind matrices"),
    "inverse_bind_computed": (
        "warning",
        "export the bind pose, or make sure that the rest pose is the bind pose",
    ),
    "normals_generated": ("note", "export normals where hard edges matter"),
    "normals_normalized": ("note", _NOTHING),
    "attributes_dropped": ("error", "export one value of the attribute for each vertex"),
    "attributes_ignored": ("note", "nothing, unless a material needs them"),
    "faces_dropped": ("error", "remove the faces whose corners do not exist, then export again"),
    "points_lines_dropped": ("warning", "remove loose points and edges, or turn them into faces"),
    "meshes_dropped": ("warning", "remove meshes without faces"),
    "morph_targets_dropped": (
        "warning",
        "give targets as many vertices as their mesh, and a mesh one controller; VertexAnimation.load reads "
        "vertex frames",
    ),
    "numbers_repaired": (
        "error",
        "find values in the scene that are infinite or not a number (NaN), and export again",
    ),
    "names_ambiguous": ("error", "give each joint a name of its own"),
    "names_cut": ("warning", "shorten the names"),
    "nodes_with_two_parents": ("error", "give each node one parent, and repeat a mesh by a second node"),
    "meshes_outside_scene": ("warning", "choose a scene with load(scene=), or put everything into one scene"),
    "joints_outside_scene": ("warning", "put the joints of the skin into the scene"),
    "instances_dropped": ("error", "turn the instances into nodes of their own"),
    "rotations_normalized": ("note", "export quaternions of unit length, with all digits"),
    "key_times_repaired": ("error", "bake the keys, one per frame, in increasing order"),
    "frame_count_repaired": ("note", "correct the number of frames in the file"),
    "compressed_counts_repaired": ("note", "compress the original file again with gltf-transform draco"),
    "duration_repaired": ("note", "set the clip's range to its keys"),
    "ticks_per_second_assumed": (
        "warning",
        "export the frame rate; the clip may play too fast or too slowly",
    ),
    "channels_dropped": (
        "error",
        "export the joints that are animated, remove the channels, or retarget clips of another skeleton",
    ),
    "channels_duplicate": ("error", "bake the animation, so that a joint has one channel for each property"),
    "joints_matched": ("note", "give the joints the same names in both files"),
    "interpolation_ignored": ("warning", "bake the curves to linear keys, or export to glTF"),
    "clip_extras_dropped": ("warning", "keep events and root motion within the time of their clip"),
    "scale_channels_ignored": ("note", _NOTHING),
    "duplicate_clip_names": ("warning", _OWN_NAME),
    "shear_lost": ("warning", "freeze uneven scale above rotated joints before animating"),
    "matrix_keys_lost": ("error", "export rotation, scale and translation keys instead of matrices"),
    "curves_converted": ("note", _NOTHING),
    "visibility_ignored": ("warning", "hide the parts by animating their scale, or split the model"),
    "curve_keys_added": ("note", _NOTHING),
    "curves_coarse": ("warning", "bake the animation before export, or load with a larger curve_error"),
    "dual_quaternions_ignored": ("warning", "use linear skinning, or more joints where the mesh twists"),
    "geometry_ignored": ("warning", "convert the geometry to polygons"),
    "geometry_caches_ignored": ("warning", "bake the cache to joints or shapes"),
    "constraints_ignored": ("warning", "bake the animation before export"),
    "axes_converted": ("note", _NOTHING),
    "units_converted": ("note", _NOTHING),
    "skeleton_mesh_dropped": ("note", _NOTHING),
    "textures_missing": ("warning", "embed the textures, or put them beside the file"),
    "textures_not_images": (
        "warning",
        "export the textures as PNG or JPEG; of a Git LFS pointer, run git lfs pull",
    ),
    "files_refused": ("warning", "put all files into one folder and use relative paths"),
    "files_missing": ("error", "put the missing files beside this one, or embed them"),
    "references_ignored": ("warning", "put all elements into one file"),
    "archive_misread": ("warning", "unpack the archive and load its .dae file"),
    "looks_ignored": ("note", _NOT_DRAWN),
    "cameras_lights_ignored": ("note", "convert the file to glTF if you need them as data"),
    "metadata_ignored": ("note", "convert the file to glTF, whose extras are kept"),
    "textures_undecoded": (
        "warning",
        "decode the textures with gltf-transform ktxdecompress, or export PNG or JPEG",
    ),
    "values_without_times": ("error", "export one value for each time, or three for a cubic key"),
    "extensions_ignored": ("error", "export without the extensions that the file requires"),
    "material_factors_clamped": ("warning", "give each factor of a material a number in its range"),
    "looks_kept": ("note", _NOT_DRAWN),
    "extensions_unread": ("note", "nothing, unless the target program reads them"),
}
OTHERS: dict[str, tuple[Level, str]] = {"lost": ("warning", _UNSUPPORTED), "repaired": ("note", _NOTHING)}

#: Remedies by words of the first case, which tell the cause more precisely than the code does.
_CAUSES = {
    "Git LFS pointer": "run git lfs pull",
    "; there is '": "give the file the name that the model uses; upper and lower case differ",
    "vertex frames after": "read all frames with skinpy.VertexAnimation.load",
    "property '": "bake it into joints or textures; skinpy does not play the property",
    "KHR_materials_pbrSpecularGlossiness": "convert the materials: gltf-transform metalrough",
}


def remedy_of(entry: ReportEntry) -> str:
    """Return what to do about an entry of the report."""
    causes = (remedy for words, remedy in _CAUSES.items() if words in entry.first)
    return next(causes, MEANING.get(entry.code, OTHERS[entry.severity])[1])
