"""`model.humanoid` finds the joints of a human figure; a mapping of one's own is checked."""

import builders
import pytest
from rig_conventions import RIGS

import skinpy
from skinpy.retargeting.bones import BONES, CORE


@pytest.mark.parametrize("name", RIGS)
def test_published_conventions(name: str) -> None:
    """Every bone of the limbs and the trunk is that of the convention; what it lacks is not invented."""
    rig = RIGS[name]
    found = rig.model().humanoid
    truth = rig.bones()
    assert {bone: found.get(bone) for bone in truth} == truth
    invented = {bone: found[bone] for bone in CORE if bone in found and bone not in truth}
    assert not invented


def test_all_bones_have_a_reason() -> None:
    humanoid = RIGS["Unreal 5"].model().humanoid
    assert len(BONES) == len(set(BONES)) == 55
    assert set(humanoid) | set(humanoid.missing) == set(BONES)
    for bone in BONES:
        assert humanoid.why(bone).endswith(".")
    assert "'thigh_l'" in humanoid.why("leftUpperLeg")
    with pytest.raises(KeyError, match="the humanoid has no jaw"):
        humanoid["jaw"]
    with pytest.raises(KeyError, match="did you mean 'leftFoot'"):
        humanoid["leftfoot"]


@pytest.mark.parametrize(
    ("name", "fingers"),
    [
        ("3ds Max Biped", ("Bip01 L Finger0", "Bip01 L Finger01", "Bip01 L Finger1", "Bip01 L Finger12")),
        ("Unreal 5", ("thumb_01_l", "thumb_02_l", "index_01_l", "index_03_l")),
        (
            "Rokoko",
            ("LeftFinger1Metacarpal", "LeftFinger1Proximal", "LeftFinger2Proximal", "LeftFinger2Distal"),
        ),
        ("MakeHuman", ("finger1-1.L", "finger1-2.L", "finger2-1.L", "finger2-3.L")),
        (
            "Mixamo, no prefix; Ready Player Me",
            ("LeftHandThumb1", "LeftHandThumb2", "LeftHandIndex1", "LeftHandIndex3"),
        ),
        ("MikuMikuDance", ("左親指０", "左親指１", "左人指１", "左人指３")),
    ],
)
def test_fingers(name: str, fingers: tuple[str, ...]) -> None:
    """The thumb begins with its metacarpal, as in VRM 1.0, the others with the proximal phalanx."""
    humanoid = RIGS[name].model().humanoid
    bones = ("leftThumbMetacarpal", "leftThumbProximal", "leftIndexProximal", "leftIndexDistal")
    assert tuple(humanoid[bone] for bone in bones) == fingers


def test_a_mapping_of_ones_own() -> None:
    model = skinpy.character()
    humanoid = skinpy.Humanoid(model, {"leftFoot": "LeftFoot", "hips": 1})
    assert dict(humanoid) == {"hips": model.skeleton.names[1], "leftFoot": "LeftFoot"}
    assert list(humanoid) == ["hips", "leftFoot"]
    assert humanoid.model is model
    assert humanoid.joint("leftFoot") == model.skeleton.index("LeftFoot")
    assert len(humanoid.missing) == len(BONES) - 2
    with pytest.raises(KeyError, match=r"humanoid.*'leftFoo'.*did you mean 'leftFoot'"):
        skinpy.Humanoid(model, {"leftFoo": "LeftFoot"})
    with pytest.raises(KeyError, match=r"unknown joint 'LeftFeet'.*'LeftFoot'"):
        skinpy.Humanoid(model, {"leftFoot": "LeftFeet"})
    with pytest.raises(ValueError, match="'Hips' for two bones, hips and spine"):
        skinpy.Humanoid(model, {"hips": "Hips", "spine": "Hips"})
    with pytest.raises(IndexError, match="has 99 for hips; the model has joints 0 to 25"):
        skinpy.Humanoid(model, {"hips": 99})
    with pytest.raises(TypeError, match=r"joints\['hips'\] is of type float"):
        skinpy.Humanoid(model, {"hips": 1.0})  # type: ignore[dict-item]


def test_what_is_no_human_figure() -> None:
    for model in (skinpy.chair(), skinpy.crane()):
        assert dict(model.humanoid) == {}
        assert model.humanoid.missing == BONES
        with pytest.raises(KeyError, match="the humanoid has no hips"):
            model.humanoid["hips"]


def vrm(version: int, bones: dict[str, int]) -> skinpy.Model:
    """A chain of joints a, b, c in a VRM file that names its bones by node."""
    file = builders.Gltf()
    file.nodes = [{"name": "a", "children": [1]}, {"name": "b", "children": [2]}, {"name": "c"}]
    file.roots = [0]
    if version:
        said = {"humanBones": {name: {"node": node} for name, node in bones.items()}}
        extension = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": said}}
    else:
        said0 = [{"bone": name, "node": node} for name, node in bones.items()]
        extension = {"VRM": {"humanoid": {"humanBones": said0}}}
    file.more = {"extensionsUsed": list(extension), "extensions": extension}
    return skinpy.load(file.glb(), format="glb")


def test_what_vrm_files_say_counts() -> None:
    """VRM 0 calls the joints of the thumb otherwise: its Proximal is the Metacarpal of VRM 1.0."""
    new = vrm(1, {"hips": 2, "leftThumbMetacarpal": 0, "leftThumbProximal": 1})
    assert dict(new.humanoid) == {"hips": "c", "leftThumbMetacarpal": "a", "leftThumbProximal": "b"}
    assert new.humanoid.why("hips") == "The VRM file says so."
    old = vrm(0, {"leftThumbProximal": 0, "leftThumbIntermediate": 1, "leftThumbDistal": 2})
    assert list(old.humanoid.items()) == [
        ("leftThumbMetacarpal", "a"),
        ("leftThumbProximal", "b"),
        ("leftThumbDistal", "c"),
    ]
    with pytest.raises(KeyError, match=r"the humanoid has no head\. The VRM file names no joint"):
        old.humanoid["head"]


def test_a_vrm_file_that_is_wrong() -> None:
    wrong = vrm(1, {"hips": 7, "head": -1, "nose": 0, "spine": 1, "chest": 1})
    assert dict(wrong.humanoid) == {"spine": "b"}
