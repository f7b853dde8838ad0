"""All public functions of skinpy, found by inspection, and one small call of each.

`public_names()` inspects the public modules. `cases(world)` has a call for each name except those in
`UNCALLED`, which gives the reasons. The tests of faults and the scripts in tests/hostile run all calls, and
test_faults_memory.py fails if a new public function has no call and no reason.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import skinpy

#: Public modules. Names of "skinpy" have no prefix; a name that a later module shares is listed once.
MODULES = (
    *("skinpy", "skinpy.rotation", "skinpy.kinds", "skinpy.storage"),
    *("skinpy.render", "skinpy.output", "skinpy.view"),
)
Case = Callable[[], object]

#: Names without a call here, and the reasons.
UNCALLED = {
    "Model.show": "opens a window and waits until it is closed: tests/test_window.py",
    "Model.view": "needs a notebook's widgets: tests/test_live.py",
    "AnimationController.view": "needs a notebook's widgets: tests/test_live.py",
    "view.show": "opens a window and waits until it is closed: tests/test_window.py",
    "Animation": "a protocol: its methods are called on the classes that have them",
    "view.LiveView": "needs a notebook's widgets: tests/test_live.py",
    "Clips": "made by Model.clips alone",
    "Skeleton": "made by Model.skeleton alone",
    "Mesh": "made by Model.mesh alone",
    "Skin": "made by Model.skin alone",
    "Track": "made by AnimationController alone",
    "view.Player": "made by view.Stage alone",
    "view.CameraRig": "made by view.Stage alone",
}

#: Classes without any call here.
WHOLE = ("view.LiveView",)


def public_names() -> set[str]:
    """The names of all public functions and classes, and of the methods and properties of the classes."""
    names: set[str] = set()
    for full, thing in public_things().items():
        if inspect.isclass(thing):
            names |= _of_class(full, thing)
        else:
            names.add(full)
    return names


def public_things(modules: Iterable[str] = MODULES) -> dict[str, Any]:
    """Public functions and classes by name."""
    things: dict[str, Any] = {}
    for module_name in modules:
        prefix = module_name.removeprefix("skinpy").removeprefix(".")
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            known = any(thing is other for other in things.values())
            if not known and (inspect.isclass(thing) or inspect.isroutine(thing)):
                things[f"{prefix}.{name}" if prefix else name] = thing
    return things


def public_callables() -> dict[str, Any]:
    """Public functions, classes and methods by name."""
    things = public_things()
    found: dict[str, Any] = {}
    for full in public_names():
        owner, _, name = full.rpartition(".")
        thing = things[full] if full in things else getattr(things[owner], name)
        if callable(thing):
            found[full] = thing
    return found


def _of_class(full: str, thing: type) -> set[str]:
    if issubclass(thing, BaseException):
        return set()
    return {full} | {f"{full}.{name}" for name in members(thing)}


def members(thing: type) -> set[str]:
    """Names of the public methods and properties that skinpy's own classes give to a class."""
    names: set[str] = set()
    for base in thing.__mro__:
        if base.__module__.partition(".")[0] == "skinpy":
            names |= {
                name
                for name, value in vars(base).items()
                if not name.startswith("_") and _does_something(value)
            }
    return names


def called_elsewhere(name: str) -> bool:
    return name in UNCALLED or any(name.startswith(f"{whole}.") for whole in WHOLE)


def _does_something(value: object) -> bool:
    """Whether a member of a class is a method or property and not the field of a record."""
    if callable(value) or isinstance(value, property | classmethod | staticmethod):
        return True
    return inspect.isdatadescriptor(value) and not inspect.ismemberdescriptor(value)


# ------------------------------------------------------------------------------------------------ the calls

TURN = np.array([0.0, 0.6, 0.0, 0.8])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])


def frames_of_a_square(count: int = 3) -> Any:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    return square + 0.1 * np.arange(count, dtype=np.float32)[:, None, None]


def face() -> skinpy.Model:
    """One joint, four vertices, one morph target."""
    return skinpy.Model.from_arrays(
        ["head"],
        [-1],
        np.eye(4)[None],
        positions=frames_of_a_square(1)[0],
        faces=TRIANGLES,
        joints=np.zeros((4, 1), np.uint16),
        weights=np.ones((4, 1)),
        targets={"smile": np.full((4, 3), 0.1)},
    )


class World:
    """The objects that the calls use. Files are written into `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = skinpy.character()
        self.other = skinpy.crane()
        self.face = face()
        self.clip = self.model.clips["walk"]
        self.loose = skinpy.Clip.from_arrays(
            "nod", times=[0.0, 1.0], joints=["Hips"], translation=[[[0, 1, 0]], [[0, 1, 0.2]]]
        )
        self.nod = self.model.add_clips(self.loose).clips["nod"]
        self.nodding = self.face.add_clips(
            skinpy.Clip.from_arrays(
                "nod", times=[0.0, 1.0], joints=["head"], translation=[[[0, 1, 0]], [[0, 1, 0.2]]]
            )
        )
        self.moving = self.model.clips["run"].trim(0.0, 0.3)
        self.palette = self.model.palette(0, 0.2)
        self.square = skinpy.VertexAnimation.every_frame(frames_of_a_square(), 10.0, faces=TRIANGLES)
        self.uv = skinpy.UVAnimation(scroll=(0.5, 0.0))
        self.baked = self.other.bake_texture("slew", 4.0)
        self.line = skinpy.BlendSpace1D({0.0: "walk", 1.0: "run"})
        self.plane = skinpy.BlendSpace2D({(0, 0): "walk", (1, 0): "run", (0, 1): "wave"})
        self.machine = skinpy.StateMachine(
            {
                "start": "a",
                "states": {"a": {"clip": "walk"}, "b": {"clip": "run"}},
                "parameters": {"go": "trigger"},
                "transitions": [
                    {"from": "a", "to": "b", "switch": "end"},
                    {"from": "b", "to": "a", "switch": "end"},
                ],
            }
        )
        self.findings = skinpy.check(self.other)
        self.model.save(folder / "saved.skn")
        self.baked.save(folder / "baked.npz")
        self.machine.save(folder / "machine.json")
        self.material = self.model.materials[0]
        self.frame = np.full((8, 8, 4), 200, np.uint8)

    def path(self, name: str) -> Path:
        return self.folder / name

    def playing(self) -> skinpy.AnimationController:
        controller = skinpy.AnimationController(self.model)
        controller.play("walk")
        controller.advance(0.05)
        return controller


def with_track(world: World, use: Callable[[Any, Any], object]) -> Case:
    def call() -> object:
        controller = skinpy.AnimationController(world.model)
        track = controller.add_track("walk")
        return use(controller, track)

    return call


def cases(world: World) -> dict[str, Case]:
    """A call for each name; properties of the objects in `instances` are added automatically."""
    found = _loading(world) | _models(world) | _clips(world) | _poses(world) | _controllers(world)
    found |= _blending(world) | _kinds(world) | _storage(world) | _rotations() | _pages(world)
    found |= properties(instances(world))
    return found


def properties(things: dict[str, object]) -> dict[str, Case]:
    found: dict[str, Case] = {}
    public = public_names()
    for full, thing in things.items():
        for name in sorted(_of_class(full, type(thing)) & public):
            short = name.removeprefix(f"{full}.")
            if short != name and not callable(getattr(type(thing), short)):
                found[name] = lambda thing=thing, short=short: getattr(thing, short)  # type: ignore[misc]
    return found


def instances(world: World) -> dict[str, object]:
    model = world.model
    return {
        "Model": model,
        "Skeleton": model.skeleton,
        "Mesh": model.mesh,
        "Skin": model.skin,
        "Clip": world.clip,
        "Clips": model.clips,
        "Pose": model.pose(),
        "AnimationController": world.playing(),
        "Track": world.playing().layers["base"][0],
        "Channel": world.clip.channels[0],
        "Material": world.material,
        "Mask": skinpy.Mask.below("Chest"),
        "RootMotion": world.clip.extract_root_motion().root_motion,
        "BlendSpace1D": world.line,
        "BlendSpace2D": world.plane,
        "StateMachine": world.machine,
        "Animation": world.square,
        "UVAnimation": world.uv,
        "VertexAnimation": world.square,
        "BakedTexture": world.baked,
        "BakedClip": world.baked.clips[0],
        "Report": model.report,
        "Findings": world.findings,
        "Limits": skinpy.Limits(),
        "kinds.KeyReport": world.square.to_keyed(0.01).report,
        "storage.Quantized": importlib.import_module("skinpy.storage").quantize(world.nodding.clips[0]),
        "view.Page": importlib.import_module("skinpy.view").Page("<p>", 100),
    }


def _loading(world: World) -> dict[str, Case]:
    data = Path(skinpy.__file__).parent / "data" / "crane.glb"
    path = data if data.is_file() else world.path("saved.skn")
    return {
        "load": lambda: skinpy.load(path),
        "character": skinpy.character,
        "crane": skinpy.crane,
        "chair": skinpy.chair,
        "check": lambda: skinpy.check(world.face),
        "build_info": skinpy.build_info,
        "Limits": lambda: skinpy.Limits(memory=1 << 28),
        "Limits.counts": lambda: skinpy.Limits().counts,
        "set_num_threads": lambda: skinpy.set_num_threads(skinpy.get_num_threads()),
        "get_num_threads": skinpy.get_num_threads,
        "Report": lambda: skinpy.Report([skinpy.ReportEntry("a", "lost", 1, "b", "c")]),
        "Report.read": lambda: skinpy.Report.read([world.model._block]),
        "ReportEntry": lambda: skinpy.ReportEntry("a", "lost", 1, "b", "c"),
        "Finding": lambda: skinpy.Finding("a", "note", None, None, None, None, "b", "c"),
        "Findings": lambda: skinpy.Findings([]),
        "Findings.to_dict": world.findings.to_dict,
        "Event": lambda: skinpy.Event(0.5, "step"),
        "Submesh": lambda: skinpy.Submesh("a", 0, None, range(3), range(1)),
        "Target": lambda: skinpy.Target("a", 0, 0.0, np.arange(1), np.zeros((1, 3), np.float32), None),
        "SceneCamera": lambda: skinpy.SceneCamera("front", 0, "perspective", yfov=0.7),
        "SceneLight": lambda: skinpy.SceneLight("sun", 0, "directional"),
        "Material": lambda: skinpy.Material(**vars(world.material)),
        "Texture": lambda: skinpy.Texture("a", "rgba8", memoryview(bytes(4)), 1, 1),
        "Texture.image": lambda: skinpy.Texture("a", "rgba8", memoryview(bytes(4)), 1, 1).image(),
        "Channel": lambda: skinpy.Channel(**vars(world.clip.channels[0])),
    }


def _models(world: World) -> dict[str, Case]:
    model, other = world.model, world.other
    plain = face
    return {
        "Model": lambda: skinpy.Model(model._block),
        "Model.from_arrays": plain,
        "Model.add_clips": lambda: model.add_clips(world.loose),
        "Model.as_rigid": other.as_rigid,
        "Model.bake_texture": lambda: other.bake_texture("slew", 4.0),
        "Model.bake_vertices": lambda: other.bake_vertices("slew", 2.0),
        "Model.bounds": lambda: other.bounds("slew"),
        "Model.explain": lambda: model.explain(5, "walk", 0.2),
        "Model.pose": lambda: model.pose("walk", [0.1, 0.2], root=np.eye(4)),
        "Model.save": lambda: model.save(world.path("again.skn")),
        "Model.to_trimesh": lambda: _trimesh(world.face),
        "Model.crowd_palette": lambda: model.crowd_palette(
            ["walk", "run"], [[0, 1], [1, 0]], [[0.1, 0.2]], weights=[[0.4, 0.6]]
        ),
        "Model.check": world.face.check,
        "Model.deform": lambda: (
            model.deform(world.palette),
            model.deform(model.pose("walk", [0.1, 0.2])),
            world.face.deform(world.face.palette()),
        ),
        "Model.globals": lambda: model.globals("walk", [0.1, 0.2]),
        "Model.joint_positions": lambda: model.joint_positions("walk", [0.1, 0.2]),
        "Model.palette": lambda: model.palette("walk", np.linspace(0, 1, 50), root=np.eye(4)),
        "Skeleton.index": lambda: model.skeleton.index("Head"),
        "to_row_vectors": lambda: skinpy.to_row_vectors(world.palette),
        "lock_feet": lambda: skinpy.lock_feet(world.moving),
        "retarget": lambda: skinpy.retarget(world.moving, model, model),
        "match_joints": lambda: skinpy.match_joints(model, model),
        "JointMatch": lambda: skinpy.JointMatch((), (), ()),
        "match_poses": lambda: skinpy.match_poses(world.moving, model, model),
        "PoseMatch": lambda: skinpy.PoseMatch(model.pose(), model.pose(), "", "", {}, {}),
        "Humanoid": lambda: skinpy.Humanoid(model, {"hips": "Hips"}),
        "Humanoid.t_pose": lambda: model.humanoid.t_pose(),
        "Humanoid.a_pose": lambda: model.humanoid.a_pose(),
        "Humanoid.joint": lambda: model.humanoid.joint("hips"),
        "Humanoid.missing": lambda: model.humanoid.missing,
        "Humanoid.model": lambda: model.humanoid.model,
        "Humanoid.why": lambda: model.humanoid.why("hips"),
        "BakedTexture": lambda: skinpy.BakedTexture(
            world.baked.data, world.baked.clips, world.baked.slots, "slerp", other, world.baked.sources
        ),
        "BakedTexture.error": world.baked.error,
        "BakedTexture.index": lambda: world.baked.index("slew"),
        "BakedTexture.instances": lambda: world.baked.instances([0, 0], [0.1, 0.2]),
        "BakedTexture.load": lambda: skinpy.BakedTexture.load(world.path("baked.npz"), other),
        "BakedTexture.palette": lambda: world.baked.palette("slew", 0.2),
        "BakedTexture.palettes": lambda: world.baked.palettes(world.baked.instances([0], [0.1])),
        "BakedTexture.save": lambda: world.baked.save(world.path("baked again.npz")),
        "BakedClip": lambda: skinpy.BakedClip("a", 0, 2, 1.0, 1.0, 1.0),
    }


def _trimesh(model: skinpy.Model) -> object:
    try:
        return model.to_trimesh()
    except ImportError:
        return None


def _plot(call: Case) -> object:
    try:
        return call()
    except ImportError:
        return None


def _clips(world: World) -> dict[str, Case]:
    clip, moving = world.clip, world.moving
    return {
        "Clip": lambda: skinpy.Clip(world.model._block, 0, world.model),
        "Clips.index": lambda: world.model.clips.index("wave"),
        "Clips.count": lambda: world.model.clips.count("wave"),
        "Clip.add_contact_events": clip.add_contact_events,
        "Clip.add_event": lambda: moving.add_event(0.1, "step"),
        "Clip.additive": lambda: moving.additive("rest"),
        "Clip.concatenate": lambda: skinpy.Clip.concatenate([moving, clip], name="both"),
        "Clip.contacts": clip.contacts,
        "Clip.cut": lambda: moving.cut([0.1, 0.2]),
        "Clip.compress": lambda: world.moving.compress(0.01),
        "Clip.extract_root_motion": moving.extract_root_motion,
        "Clip.from_arrays": lambda: skinpy.Clip.from_arrays(
            "nod",
            fps=2.0,
            joints=["Hips"],
            translation=np.zeros((3, 1, 3)),
            rotation=np.tile(TURN, (3, 1, 1)),
        ),
        "Clip.from_smpl": lambda: skinpy.Clip.from_smpl(
            {"poses": np.tile([np.pi / 2] + [0.0] * 65, (2, 1)), "trans": np.ones((2, 3))},
            name="pose",
            fps=30.0,
            up="+Z",
            height=1.7,
        ),
        "Clip.material_values": lambda: clip.material_values(0.1),
        "Clip.mirror": moving.mirror,
        "Clip.plot": lambda: _plot(lambda: world.nod.plot("Hips", world.path("curves.svg"))),
        "Clip.resample": lambda: moving.resample(5.0),
        "Clip.reverse": moving.reverse,
        "Clip.root_motion_from_feet": lambda: moving.root_motion_from_feet(["LeftFoot", "RightFoot"]),
        "Clip.sample": lambda: clip.sample([0.1, 0.2], out=world.model.pose(time=[0.0, 0.0])),
        "Clip.to_dict": world.loose.to_dict,
        "Clip.to_npz": lambda: clip.to_npz(world.path("clip.npz")),
        "Clip.to_records": world.loose.to_records,
        "Clip.speed": lambda: moving.speed(2.0),
        "Clip.transform": lambda: moving.extract_root_motion().transform(np.diag([2.0, 2.0, 2.0, 1.0])),
        "Clip.trim": lambda: clip.trim(0.0, 0.2),
        "Clip.visible_joints": lambda: clip.visible_joints(0.1),
        "Clip.visible_submeshes": lambda: clip.visible_submeshes(0.1),
        "RootMotion": lambda: skinpy.RootMotion([0.0, 1.0], np.zeros((2, 3)), np.tile(TURN, (2, 1))),
        "RootMotion.delta": lambda: moving.extract_root_motion().root_motion.delta(0.0, 0.1),
        "RootMotion.sample": lambda: moving.extract_root_motion().root_motion.sample([0.1]),
    }


def _poses(world: World) -> dict[str, Case]:
    model = world.model
    pose = model.pose("walk", [0.1, 0.2, 0.3])
    given = (pose.translation, pose.rotation, pose.scale, pose.morph_weights)
    return {
        "Pose": lambda: skinpy.Pose(model, *given, np.eye(4)),
        "Pose.aim": lambda: pose.copy().aim("Head", (0, 1, 2), weight=0.5),
        "Pose.attach": lambda: pose.attach("Head", np.eye(4)),
        "Pose.copy": pose.copy,
        "Pose.fabrik": lambda: pose.copy().fabrik("LeftHand", (0, 1, 1), root="LeftShoulder"),
        "Pose.rotate": lambda: pose.copy().rotate("Head", degrees=5.0, axis="y"),
        "Pose.set": lambda: pose.copy().set("Head", translation=(0, 1, 0)),
        "Pose.translate": lambda: pose.copy().translate("Head", (0, 0.1, 0)),
        "Pose.two_bone_ik": lambda: pose.copy().two_bone_ik("LeftHand", (0, 1, 1), pole=(0, 0, -1)),
        "Pose.globals": pose.globals,
        "Pose.locals": pose.locals,
        "Pose.palette": pose.palette,
        "blend": lambda: skinpy.blend(
            [pose, pose], [0.5, [0.1, 0.2, 0.3]], masks=[None, skinpy.Mask.below("Chest")]
        ),
        "Mask": lambda: skinpy.Mask("named", ("*",)),
        "Mask.array": lambda: skinpy.Mask.array(np.ones(26)),
        "Mask.below": lambda: skinpy.Mask.below("Chest"),
        "Mask.from_dict": lambda: skinpy.Mask.from_dict(skinpy.Mask.below("Chest").to_dict()),
        "Mask.named": lambda: skinpy.Mask.named("*Arm*"),
        "Mask.to_dict": lambda: skinpy.Mask.below("Chest").to_dict(),
        "Mask.weights": lambda: skinpy.Mask.below("Chest").weights(model),
    }


def _controllers(world: World) -> dict[str, Case]:
    def after(use: Callable[[Any], object]) -> Case:
        return lambda: use(world.playing())

    def recorded() -> object:
        controller = skinpy.AnimationController(world.model)
        notes = controller.record()
        controller.play("walk")
        controller.advance(0.1)
        notes.stop()
        return [c.time for c in skinpy.AnimationController.replay(world.model, notes) if hasattr(c, "time")]

    return {
        "AnimationController": lambda: skinpy.AnimationController(world.model),
        "AnimationController.add_track": with_track(world, lambda c, t: c),
        "AnimationController.advance": after(lambda c: c.advance(0.1)),
        "AnimationController.cancel": with_track(world, lambda c, t: c.cancel(c.key_weight(t, 0.5, 1.0))),
        "AnimationController.clone": after(lambda c: c.clone()),
        "AnimationController.cross_fade": after(lambda c: c.cross_fade("run", 0.2)),
        "AnimationController.key_enable": with_track(world, lambda c, t: c.key_enable(t, False, 1.0)),
        "AnimationController.key_position": with_track(world, lambda c, t: c.key_position(t, 0.2, 1.0)),
        "AnimationController.key_priority_blend": after(lambda c: c.key_priority_blend(0.5, 1.0)),
        "AnimationController.key_speed": with_track(world, lambda c, t: c.key_speed(t, 2.0, 1.0)),
        "AnimationController.key_weight": with_track(world, lambda c, t: c.key_weight(t, 0.5, 1.0)),
        "AnimationController.palette": after(lambda c: c.palette()),
        "AnimationController.pause": after(lambda c: c.pause()),
        "AnimationController.play": after(lambda c: c.play("run")),
        "AnimationController.pose": after(lambda c: c.pose()),
        "AnimationController.record": recorded,
        "AnimationController.replay": recorded,
        "AnimationController.resume": after(lambda c: c.resume()),
        "AnimationController.run": lambda: skinpy.AnimationController(world.model).run(world.machine),
        "AnimationController.seek": after(lambda c: c.seek(0.1)),
        "AnimationController.stop": after(lambda c: c.stop()),
        "PassedEvent": after(
            lambda c: skinpy.PassedEvent("step", 0.1, world.clip, "base", c.layers["base"][0], 1.0, 0.2)
        ),
    }


def _blending(world: World) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name, space, place in (("BlendSpace1D", world.line, 0.3), ("BlendSpace2D", world.plane, (0.3, 0.3))):
        found |= {
            name: lambda name=name, space=space: getattr(skinpy, name)(space.points),  # type: ignore[misc]
            f"{name}.weights": lambda space=space, place=place: space.weights(place),  # type: ignore[misc]
            f"{name}.bind": lambda space=space: space.bind(world.model),  # type: ignore[misc]
            f"{name}.to_dict": space.to_dict,
            f"{name}.from_dict": lambda space=space: type(space).from_dict(space.to_dict()),  # type: ignore[misc]
        }
    machine = world.machine
    return found | {
        "StateMachine": lambda: skinpy.StateMachine(machine.to_dict()),
        "StateMachine.from_json": lambda: skinpy.StateMachine.from_json(machine.to_json()),
        "StateMachine.load": lambda: skinpy.StateMachine.load(world.path("machine.json")),
        "StateMachine.route": lambda: machine.route("a", "b"),
        "StateMachine.save": lambda: machine.save(world.path("machine again.json")),
        "StateMachine.to_dict": machine.to_dict,
        "StateMachine.to_json": machine.to_json,
        "StateMachine.ways": lambda: machine.ways("a"),
    }


def _kinds(world: World) -> dict[str, Case]:
    square, uv, points = world.square, world.uv, np.array([[0.25, 0.5]])
    saved = Path(skinpy.__file__).parent / "data" / "crane.glb"
    return {
        "Animation.sample": lambda: square.sample(0.1),
        "UVAnimation": lambda: skinpy.UVAnimation(scroll=(0.5, 0.0)),
        "UVAnimation.apply": lambda: uv.apply(points, 0.1),
        "UVAnimation.sample": lambda: uv.sample([0.1, 0.2]),
        "UVAnimation.wrapped": lambda: uv.wrapped(points),
        "VertexAnimation": lambda: skinpy.VertexAnimation(
            *("vertex", np.arange(3) / 10, frames_of_a_square(), frames_of_a_square()),
            *(square.model, "a", 10.0, "linear"),
        ),
        "VertexAnimation.cut": lambda: square.cut(0, 2),
        "VertexAnimation.every_frame": lambda: skinpy.VertexAnimation.every_frame(
            frames_of_a_square(), 10.0, faces=TRIANGLES
        ),
        "VertexAnimation.keyed": lambda: skinpy.VertexAnimation.keyed(
            [0.0, 0.5, 1.0], frames_of_a_square(), faces=TRIANGLES
        ),
        "VertexAnimation.load": lambda: _or_none(lambda: skinpy.VertexAnimation.load(saved)),
        "VertexAnimation.load_series": lambda: skinpy.VertexAnimation.load_series([saved, saved], 5.0),
        "VertexAnimation.places": lambda: square.places([0.1, 0.2]),
        "VertexAnimation.sample": lambda: square.sample([0.1, 0.2]),
        "VertexAnimation.to_keyed": lambda: square.to_keyed(0.01),
        "kinds.KeyReport": lambda: skinpy.kinds.KeyReport(3, 2, 0.1, 0.01, 0.001, 300, 200),
        "kinds.bake_vertices": lambda: skinpy.kinds.bake_vertices(world.nodding, "nod", 4.0).frames,
    }


def _storage(world: World) -> dict[str, Case]:
    storage, model = importlib.import_module("skinpy.storage"), world.nodding
    clip = model.clips["nod"]
    table, packed = storage.compare(model, clip, fps=2.0), storage.quantize(clip)
    return {
        "storage.compare": lambda: repr(storage.compare(model, clip, fps=2.0)),
        "storage.Comparison": lambda: storage.Comparison(table.rows, "nod", 1.0, 2.0, 0.1, 1.0, 4),
        "storage.Comparison.plot": lambda: _plot(lambda: table.plot(world.path("table.svg"))),
        "storage.Comparison.to_dict": table.to_dict,
        "storage.Row": lambda: storage.Row("a", "vertex", 1, 2, 3.0, 4, 0.1, 0.01, 1.0, 0.1),
        "storage.quantize": lambda: storage.quantize(clip).data,
        "storage.Quantized": lambda: storage.Quantized(packed.data, packed.error, clip),
        "storage.Quantized.clip": packed.clip,
    }


def _or_none(call: Case) -> object:
    """None where the call says that the file holds no frames."""
    try:
        return call()
    except (ValueError, skinpy.LoadError):
        return None


def _rotations() -> dict[str, Case]:
    r = skinpy.rotation
    turns = np.tile(TURN, (5, 1))
    return {
        "rotation.normalize": lambda: r.normalize(turns, canonical=True),
        "rotation.multiply": lambda: r.multiply(turns, turns),
        "rotation.inverse": lambda: r.inverse(turns),
        "rotation.apply": lambda: r.apply(turns, np.ones((5, 3))),
        "rotation.slerp": lambda: r.slerp(turns, turns, 0.3),
        "rotation.from_matrix": lambda: r.from_matrix(np.eye(3)),
        "rotation.to_matrix": lambda: r.to_matrix(turns),
        "rotation.from_euler": lambda: r.from_euler("xyz", [0.1, 0.2, 0.3]),
        "rotation.to_euler": lambda: r.to_euler(turns, "xyz"),
        "rotation.from_rotvec": lambda: r.from_rotvec([0.1, 0.2, 0.3]),
        "rotation.to_rotvec": lambda: r.to_rotvec(turns),
        "rotation.from_axis_angle": lambda: r.from_axis_angle([0, 1, 0], 0.3),
        "rotation.to_axis_angle": lambda: r.to_axis_angle(turns),
        "rotation.from_6d": lambda: r.from_6d([1, 0, 0, 0, 1, 0]),
        "rotation.to_6d": lambda: r.to_6d(turns),
    }


def _pages(world: World) -> dict[str, Case]:
    view = importlib.import_module("skinpy.view")
    output = importlib.import_module("skinpy.output")
    small, frames = world.other, [world.frame] * 3
    return {
        "Model.page": lambda: small.page("slew", fps=2.0),
        "Model.to_html": lambda: small.to_html(world.path("model.html"), "slew", fps=2.0),
        "Clip.page": lambda: small.clips["slew"].page(fps=2.0),
        "Clip.to_html": lambda: small.clips["slew"].to_html(world.path("clip.html"), fps=2.0),
        "view.Page": lambda: view.Page("<p>", 100),
        "view.Page.save": lambda: view.Page("<p>", 100).save(world.path("page.html")),
        "view.make_page": lambda: view.make_page(small, "slew", fps=2.0),
        "view.save_page": lambda: view.save_page(world.path("saved.html"), small, "slew", fps=2.0),
        "view.Layer": lambda: view.Layer("walk"),
        "output.encode_picture": lambda: output.encode_picture(world.frame, "png"),
        "output.save_picture": lambda: output.save_picture(world.path("picture.png"), world.frame),
        "output.encode_film": lambda: output.encode_film(frames, 10, "gif"),
        "output.save_film": lambda: output.save_film(world.path("film.webp"), frames, 10),
    }


# ------------------------------------------------------------------------------------------- with a picture

_LAYERS = ["depth", "normal", "position", "uv", "barycentric", "flow", "joint", "material", "submesh", "face"]


def drawn_cases(world: World) -> dict[str, Case]:
    """The calls that draw; making a renderer takes long, so it is kept."""
    render = importlib.import_module("skinpy.render")
    view = importlib.import_module("skinpy.view")
    model, small, size = world.model, world.other, (16, 16)
    renderer = render.Renderer(small, size=size)
    crowd = render.Crowd(small, render.grid(small, 2), size=size)
    camera = render.Camera.look_at((3, 3, 3))
    truth = renderer.render("slew", 0.1, aov=_LAYERS, flow_to=0.2)
    stage = view.Stage(small, "slew", size=size)
    orbit = view.Orbit((0, 0, 0), 3.0)
    things = {
        "render.Camera": camera,
        "render.Crowd": crowd,
        "render.Floor": render.Floor(),
        "render.GroundTruth": truth,
        "render.Overlays": render.Overlays(),
        "render.Renderer": renderer,
        "view.Orbit": orbit,
        "view.Stage": stage,
        "view.Player": stage.player,
        "view.CameraRig": stage.rig,
        "view.Layer": view.Layer("walk"),
    }
    found: dict[str, Case] = {
        "Model.render": lambda: small.render("slew", 0.1, size),
        "Clip.save": lambda: small.clips["slew"].save(world.path("film.gif"), fps=4.0, size=size),
        "render.Camera": lambda: render.Camera((3, 3, 3), (0, 0, 0)),
        "render.Camera.axes": camera.axes,
        "render.Camera.frame": lambda: render.Camera.frame(model.bounds()),
        "render.Camera.look_at": lambda: render.Camera.look_at((3, 3, 3)),
        "render.Camera.projection": lambda: camera.projection(1.5),
        "render.Camera.view": camera.view,
        "render.Crowd": lambda: _closed(render.Crowd(small, render.grid(small, 2), size=size)),
        "render.Crowd.camera": crowd.camera,
        "render.Crowd.close": lambda: _closed(render.Crowd(small, render.grid(small, 2), size=size)),
        "render.Crowd.frame": lambda: crowd.frame(0, [0.1, 0.2]),
        "render.Crowd.place": lambda: crowd.place(render.grid(small, 2)),
        "render.Crowd.skinned_vertices": lambda: crowd.skinned_vertices(0, [0.1, 0.2]),
        "render.Floor": lambda: render.Floor(size=2.0),
        "render.Floor.velocity": lambda: render.Floor(speed=1.0).velocity(np.array([0.0, 0.0, 1.0])),
        "render.GroundTruth": lambda: render.GroundTruth(
            **{field.name: getattr(truth, field.name) for field in dataclasses.fields(truth)}
        ),
        "render.GroundTruth.save": lambda: truth.save(world.path("truth.npz")),
        "render.GroundTruth.to_dict": truth.to_dict,
        "render.Overlays": lambda: render.Overlays(skeleton=True),
        "render.Overlays.parse": lambda: render.Overlays.parse(["skeleton"]),
        "render.Renderer": lambda: _closed(render.Renderer(small, size=size)),
        "render.Renderer.camera": renderer.camera,
        "render.Renderer.close": lambda: _closed(render.Renderer(small, size=size)),
        "render.Renderer.frame": lambda: renderer.frame("slew", 0.1),
        "render.Renderer.frames": lambda: list(renderer.frames("slew", [0.1, 0.2])),
        "render.Renderer.render": lambda: renderer.render("slew", 0.1, aov="depth"),
        "render.Renderer.skinned_vertices": lambda: renderer.skinned_vertices("slew", 0.1),
        "render.available_overlays": lambda: render.available_overlays(small),
        "render.grid": lambda: render.grid(small, 4),
        "render.ground_velocity": lambda: render.ground_velocity(model, "walk"),
        "render.render": lambda: render.render(small, "slew", 0.1, size),
        "render.turntable": lambda: render.turntable(small, None, 4),
        "output.save_clip": lambda: importlib.import_module("skinpy.output").save_clip(
            world.path("save.webp"), small, "slew", fps=4.0, size=size
        ),
        "output.sheet": lambda: importlib.import_module("skinpy.output").sheet(
            small, frames=2, size=(24, 24)
        ),
        "output.side_by_side": lambda: importlib.import_module("skinpy.output").side_by_side(
            [(small, "slew")], frames=2, size=(24, 24)
        ),
        "view.Orbit": lambda: view.Orbit((0, 0, 0), 3.0),
        "view.Orbit.axes": orbit.axes,
        "view.Orbit.camera": orbit.camera,
        "view.Orbit.panned": lambda: orbit.panned(0.1, 0.1),
        "view.Orbit.through": lambda: view.Orbit.through(camera),
        "view.Orbit.turned": lambda: orbit.turned(5.0, 5.0),
        "view.Orbit.zoomed": lambda: orbit.zoomed(1.1),
        "view.Stage": lambda: _closed(view.Stage(small, "slew", size=size)),
        "view.Stage.close": lambda: _closed(view.Stage(small, "slew", size=size)),
        "view.Player.advance": lambda: stage.player.advance(0.1),
        "view.Stage.choose": lambda: stage.choose("slew"),
        "view.CameraRig.fit": stage.rig.fit,
        "view.Stage.frame": lambda: stage.frame(),
        "view.Stage.joint_at": lambda: stage.joint_at(8, 8),
        "view.Stage.joints_on_screen": stage.joints_on_screen,
        "view.CameraRig.look": lambda: stage.rig.look(10.0, 10.0),
        "view.CameraRig.orbit": lambda: stage.rig.orbit(1.0, 1.0),
        "view.CameraRig.pan": lambda: stage.rig.pan(1.0, 1.0),
        "view.Stage.replace": lambda: stage.replace(small, "slew"),
        "view.CameraRig.reset": stage.rig.reset,
        "view.CameraRig.refit": stage.rig.refit,
        "view.CameraRig.follow": lambda: stage.rig.follow(stage.player),
        "view.Player.start": lambda: stage.player.start(small.clips["slew"]),
        "view.Player.pose": lambda: stage.player.pose(),
        "view.Player.moment": lambda: stage.player.moment(),
        "view.Stage.rest": lambda: (stage.rest(), stage.choose("slew")),
        "view.Player.seek": lambda: stage.player.seek(0.2),
        "view.Player.step": lambda: stage.player.step(1),
        "view.CameraRig.zoom": lambda: stage.rig.zoom(1.0),
    }
    return found | properties(things)


def _closed(thing: Any) -> None:
    thing.close()
