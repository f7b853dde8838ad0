"""`model.humanoid` finds the joints of a human figure; a mapping of one's own is checked."""

import json
from collections.abc import Callable
from pathlib import Path

import builders
import numpy as np
import pytest
from rig_conventions import RIGS
from rigs import figure
from scipy.spatial.transform import Rotation

import skinpy
from skinpy.__main__ import main
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


def nameless(name: str, places: Callable[[np.ndarray], np.ndarray] = lambda one: one) -> dict[str, str]:
    """The joint of each bone that is found in a rig whose joints are numbered, by its name in the rig."""
    names, parents, origins = RIGS[name].skeleton()
    model = figure([f"joint_{number}" for number in range(len(names))], parents, places(origins))
    return {bone: names[model.humanoid.joint(bone)] for bone in model.humanoid}


@pytest.mark.parametrize("name", ["SMPL", "LAFAN1", "Mixamo, no prefix; Ready Player Me", "Xsens MVN, BVH"])
def test_structure_without_names(name: str) -> None:
    """Left is where it is when the toes point to the front, wherever that is in the scene."""
    truth = RIGS[name].bones()
    turned = Rotation.from_euler("yxz", [70, 20, 200], degrees=True)
    for places in (lambda one: one, lambda one: turned.apply(one) * 100 + 7):
        found = nameless(name, places)
        assert {bone: found[bone] for bone in found if bone in truth} == {
            bone: truth[bone] for bone in found if bone in truth
        }
        assert {bone for bone in CORE if bone not in found} <= {"head"}


@pytest.mark.parametrize("name", RIGS)
def test_structure_without_names_is_never_wrong(name: str) -> None:
    truth = RIGS[name].bones()
    found = nameless(name)
    limbs = {bone for bone in found if bone in truth and bone.startswith(("left", "right"))}
    limbs -= {"leftToes", "rightToes"}  # of two joints beyond the foot, names alone tell the toes
    assert {bone: found[bone] for bone in limbs} == {bone: truth[bone] for bone in limbs}


def test_sides_are_left_out_where_nothing_tells_them() -> None:
    """Without names and toes, a figure may face either way."""
    names, parents, places = RIGS["Roblox R15"].skeleton()
    model = figure([f"joint_{number}" for number in range(len(names))], parents, places)
    found = {bone: names[model.humanoid.joint(bone)] for bone in model.humanoid}
    assert found == {"hips": "LowerTorso", "spine": "UpperTorso", "head": "Head"}
    assert model.humanoid.why("leftHand").startswith("No joint of the left side")


def test_an_animal_on_all_fours() -> None:
    """A dog whose front legs are called arms: its trunk lies, and all legs go down."""
    names, parents, places = RIGS["LAFAN1"].skeleton()
    turned = places.copy()
    legs = [joint for joint, name in enumerate(names) if "Leg" in name or "Foot" in name or "Toe" in name]
    arms = [joint for joint, name in enumerate(names) if "Arm" in name or "Hand" in name]
    trunk = [joint for joint in range(len(names)) if joint not in legs]
    turned[trunk] = (places[trunk] - places[0])[:, [0, 2, 1]] + places[0]
    for joint in arms:
        turned[joint] = turned[parents[joint]] - (0, 0.2, 0)
    dog = figure(names, parents, turned).humanoid
    assert dict(dog) == {}
    assert "across the trunk" in dog.why("leftUpperArm")


@pytest.mark.parametrize("words", [("Leg", "Knee", "Foot"), ("thigh", "shin", "foot")])
def test_an_animal_with_front_legs(words: tuple[str, ...]) -> None:
    """Its hind legs alone would make a figure without arms."""
    names, parents = ["Hips", "Spine", "Chest", "Neck", "Head"], [-1, 0, 1, 2, 3]
    for side in ("Left", "Right"):
        for top, where in ((2, "Front"), (0, "Back")):
            for at, word in enumerate(words):
                names.append(f"{side}_{where}_{word}")
                parents.append(len(names) - 2 if at else top)
    horse = figure(names, parents, np.zeros((len(names), 3))).humanoid
    assert dict(horse) == {}
    assert "front or hind legs" in horse.why("leftFoot")


def test_a_hand_above_its_palm_and_legs_with_copies() -> None:
    """Meta's Body_LeftHandWrist carries Body_LeftHandPalm; mmd_tools' LegD_L may come before Leg_L."""
    names, parents, places = RIGS["Mixamo, no prefix; Ready Player Me"].skeleton()
    hand, leg = names.index("LeftHand"), names.index("LeftUpLeg")
    renamed = [*names[: hand + 1], "LeftHandPalm", *names[hand + 1 :]]
    renamed[hand] = "LeftHandWrist"
    above = [*parents[: hand + 1], hand, *(one + 1 if one > hand else one for one in parents[hand + 1 :])]
    humanoid = figure(renamed, above, np.insert(places, hand + 1, places[hand], axis=0)).humanoid
    assert humanoid["leftHand"] == "LeftHandWrist"
    copies = ["LeftUpLegD", "LeftLegD", "LeftFootD"]
    renamed = [*names[:leg], *copies, *names[leg:]]
    above = [*parents[:leg], 0, leg, leg + 1, *(one + 3 if one >= leg else one for one in parents[leg:])]
    humanoid = figure(renamed, above, np.insert(places, [leg] * 3, places[leg : leg + 3], axis=0)).humanoid
    legs = [humanoid[bone] for bone in ("leftUpperLeg", "leftLowerLeg", "leftFoot")]
    assert legs == ["LeftUpLeg", "LeftLeg", "LeftFoot"]


def test_the_first_of_two_figures() -> None:
    names, parents, places = RIGS["CMU, cgspeed"].skeleton()
    count = len(names)
    two = figure(
        ["Scene", *names, *names],
        [-1, *(one + 1 for one in parents), *(one + 1 + count if one >= 0 else 0 for one in parents)],
        np.concatenate([[(0, 0, 0)], places, places + (3, 0, 0)]),
    )
    humanoid = two.humanoid
    assert {humanoid.joint(bone) for bone in humanoid} <= set(range(1, count + 1))
    assert humanoid["leftUpperLeg"] == "LeftUpLeg"


def test_spare_joints_of_a_spine() -> None:
    """Second Life's avatar_skeleton.xml: mSpine1 leads up to mTorso, and mSpine2 back to mPelvis."""
    names, parents, places = RIGS["Second Life"].skeleton()
    torso, pelvis = names.index("mTorso"), names.index("mPelvis")
    chain = [*names[:torso], "mSpine1", "mSpine2", *names[torso:]]
    moved = [one + 2 if one >= torso else one for one in parents]
    above = [*moved[:torso], pelvis, torso, torso + 1, *moved[torso + 1 :]]
    extended = np.concatenate([places[:torso], places[[torso, pelvis]], places[torso:]])
    humanoid = figure(chain, above, extended).humanoid
    assert (humanoid["spine"], humanoid["chest"]) == ("mTorso", "mChest")


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


def test_a_motion_of_vrm_says_it_too() -> None:
    """VRMC_vrm_animation 1.0: humanoid.humanBones, as in VRMC_vrm."""
    file = builders.Gltf()
    file.nodes = [{"name": "a", "children": [1]}, {"name": "b"}]
    file.roots = [0]
    said = {"specVersion": "1.0", "humanoid": {"humanBones": {"hips": {"node": 1}}}}
    file.more = {"extensionsUsed": ["VRMC_vrm_animation"], "extensions": {"VRMC_vrm_animation": said}}
    assert dict(skinpy.load(file.glb(), format="vrma").humanoid) == {"hips": "b"}


def test_a_vrm_file_that_is_wrong() -> None:
    wrong = vrm(1, {"hips": 7, "head": -1, "nose": 0, "spine": 1, "chest": 1})
    assert dict(wrong.humanoid) == {"spine": "b"}


def test_info_shows_the_humanoid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "rig.skn")
    RIGS["KayKit"].model().save(path)
    assert main(["info", path]) == 0
    assert "humanoid  18 of 55 bones\n" in capsys.readouterr().out
    assert main(["info", "--json", path]) == 0
    assert json.loads(capsys.readouterr().out)["humanoid"]["leftHand"] == "hand.l"


@pytest.mark.parametrize("name", ["MikuMikuDance", "CMU, cgspeed", "Unreal 5", "Rigify, metarig", "SMPL"])
@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")  # these rigs lack the character's antenna
def test_a_walk_for_other_names(name: str) -> None:
    """The shins of the target point where those of the source do; 5 degrees are the issue's tolerance."""
    source, target = skinpy.character(), RIGS[name].model()
    walk = skinpy.retarget("walk", source, target, "auto")
    times = np.linspace(0, walk.duration, 20)
    ways = []
    for model, clip in ((source, "walk"), (target, walk)):
        places = model.joint_positions(clip, times)
        way = places[:, model.humanoid.joint("leftFoot")] - places[:, model.humanoid.joint("leftLowerLeg")]
        ways.append(way / np.linalg.norm(way, axis=1, keepdims=True))
    assert (ways[0] * ways[1]).sum(axis=1).min() > np.cos(np.radians(5))
