"""Words of joint names: conventions of mocap systems, modeling tools and games.

All words are in lower case and without separators: UpLeg, up_leg and upleg are one. In the tables, a line has
words, a colon, and the parts of the body that they fit, each with its score.
"""

import re

Table = dict[str, dict[str, float]]


def _set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _table(text: str) -> Table:
    """The parts and scores of the words of each line."""
    found: Table = {}
    for line in text.strip().splitlines():
        words, _, parts = line.partition(":")
        pairs = [one.split() for one in parts.split(",") if one.strip()]
        found |= {word: {part: float(score) for part, score in pairs} for word in words.split()}
    return found


SIDE_WORDS = {
    **dict.fromkeys(("left", "l", "lt", "lft", "lf", "izq"), "left"),
    **dict.fromkeys(("right", "r", "rt", "rgt", "rht", "der"), "right"),
}

#: Words that tell nothing about the part of the body.
NOISE = _set(
    """
    mixamorig valve biped bip bipedal bn b c j m d f x bone bones joint joints jnt jt def rig sk skel skeleton
    armature base character ctr cen cent bnd bind skin deform human humanoid avg smplhf bend adj avatar body
    of the main jo ragdoll robot mid
    stretch npc
    """
)

#: Words of joints that are not bones of the figure: twists, ends, IK targets, controls and what hangs on it.
HELPERS = _set(
    """
    twist twst tws twists roll rol patella half
    end ends nub site endsite tip tips
    ik ikfk fk pole pv poletarget target tgt upv eff effector aim dir guide look lookat
    ctrl control ctl cntrl cntl helper helpers hlp corrective correctiveroot corr tweak mch org wgt
    vis pivot offset ofs grp group null loc locator marker parent master copy dummy proxy mesh geo scale snap
    swing support assist adjust sub cancel fix fixer fwd bck part volume vol nullbone mover trajectory dropoff
    socket attach attachment attachpoint slot handslot mount weapon sword shield gun bow staff prop item hold
    holder armor pad hat helmet bag belt strap string tassel ribbon cape coat cloth clothes skirt sleeve
    phys physics jiggle dyn dynamic collider collision hitbox camera cam light sensor
    muscle breast bust boob pec butt buttock glute genital penis hair bang ponytail tail wing wings ear
    brow eyebrow eyelid lid lash eyelash lip lips mouth tongue teeth tooth nose cheek
    """
)

#: Words that may stand beside one for a part of the body, as the name of a limb does.
CONTEXT = _set("arm leg hand foot spine neck head chest body torso limb upper lower")

METACARPAL_WORDS = _set("metacarpal metacarpals carpal palm inhand meta metacarp cmc")

FINGER_WORDS = {
    **dict.fromkeys(("thumb", "thumbfinger", "pollex", "handthumb"), "Thumb"),
    **dict.fromkeys(("index", "indexfinger", "pointer", "forefinger", "pointerfinger"), "Index"),
    **dict.fromkeys(("middle", "middlefinger", "mid"), "Middle"),
    **dict.fromkeys(("ring", "ringfinger"), "Ring"),
    **dict.fromkeys(("pinky", "pinkie", "pinkey", "little", "pinkyfinger", "littlefinger"), "Little"),
}

#: Words without a side.
PARTS = _table(
    """
    hips pelvis: hips 1
    hip midhip hipcenter hipcentre spinebase: hips 0.95
    lowertorso pelvisroot roothips hipsroot hiproot: hips 0.8
    center: hips 0.5
    cog groove: hips 0.35
    lowerbody: hips 0.3
    root body: hips 0.25
    waist: hips 0.35, spine 0.7
    spine spinelower spineupper spinemid spinemiddle spinelow spinenavel tospine: spine 0.9
    lowerspine upperspine midspine lowerback upperback midback back backbone: spine 0.9
    abdomen abdomenlower abdomenupper ab abs stomach belly thorax trunk ribs ribcage: spine 0.9
    torso uppertorso upperbody: spine 0.9
    chest chestlower lowerchest midchest spinechest: spine 0.9, chest 1
    upperchest chestupper spineshoulder: spine 0.9, upperChest 1
    neck necklower neckupper lowerneck upperneck neckbase necktwist cervical: neck 1
    head: head 1
    skull headbase cranium: head 0.6
    jaw jawroot lowerjaw jawlower mandible facejaw: jaw 1
    """
)

#: Words with a side. Of several toes, the big one is not all of them.
SIDED_PARTS = _table(
    """
    upperleg upleg thigh femur legupper upperthigh thighbend: UpperLeg 1
    hip hips: UpperLeg 0.8
    hipjoint: UpperLeg 0.3
    leg: UpperLeg 0.6, LowerLeg 0.7
    lowerleg lowleg loleg leglower dnleg calf shin knee tibia crus: LowerLeg 1
    foot: Foot 1, Toes 0.5
    ankle talus footankle: Foot 0.9
    toe toes toebase toejoint foottoe foottoes forefoot ball football: Toes 1
    clavicle clavical clav collar collarbone scapula: Shoulder 1
    shoulder: Shoulder 0.7, UpperArm 0.8
    shldr: Shoulder 0.4, UpperArm 0.9
    upperarm uparm uarm armupper humerus shldrbend: UpperArm 1
    bicep: UpperArm 0.5
    arm: UpperArm 0.9, LowerArm 0.45
    lowerarm lowarm loarm farm armlower forearm forearmbend elbow radius: LowerArm 1
    ulna: LowerArm 0.8
    hand handpalm handwrist: Hand 1
    wrist: Hand 0.9
    palm fist: Hand 0.6
    eye eyeball eyejoint faceeye: eye 1
    bigtoe finger fingers:
    """
)

#: Words that alone do not say which part of a limb they mean.
VAGUE = _set("leg arm shoulder shldr hip")

#: Words before one for a part of a leg in rigs of animals; "back" is none, as it names correctives too.
ON_FOURS = _set("front hind rear")

#: Pairs of a word and the word for the next joint of the limb, in rigs that name joints rather than segments.
JOINT_WORDS = frozenset({("elbow", "wrist"), ("radius", "wrist"), ("knee", "ankle")})

#: Words of MikuMikuDance's standard skeleton; longer ones come before those that they contain.
JAPANESE = {
    "全ての親": "master",
    "センター": "center",
    "グルーブ": "groove",
    "上半身": "upperbody",
    "下半身": "lowerbody",
    "人差し指": "index",
    "人差指": "index",
    "人指": "index",
    "親指": "thumb",
    "中指": "middle",
    "薬指": "ring",
    "小指": "little",
    "つま先": "toe",
    "爪先": "toe",
    "足首": "ankle",
    "手首": "wrist",
    "腕捩": "twist",
    "手捩": "twist",
    "捩": "twist",
    "先": "end",
    "親": "parent",
    "ひざ": "knee",
    "膝": "knee",
    "ひじ": "elbow",
    "肘": "elbow",
    "足": "leg",
    "腕": "arm",
    "肩": "shoulder",
    "首": "neck",
    "頭": "head",
    "腰": "waist",
    "両目": "eyes",
    "目": "eye",
    "左": "left",
    "右": "right",
}
#: MikuMikuDance's helpers of a joint end so: the parent and the child of a shoulder, copies that deform.
TAIL_OF_COPY = re.compile(r"(?<=[^\W\dA-Za-z_])([PCD]|EX|キャンセル|補助)\d*$")
