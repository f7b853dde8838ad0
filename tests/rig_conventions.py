"""The names of joints in modeling tools and games, as published; `rigs` explains how a rig is written."""

import re

from rig_captures import CAPTURES, STANDARD
from rig_games import GAMES
from rigs import Rig

_MIXAMO = """
Hips > Spine > Spine1 > Spine2 > Neck > Head > HeadTop_End
Spine2 > LeftShoulder > LeftArm > LeftForeArm > LeftHand > LeftHandThumb1 > LeftHandThumb2
    > LeftHandThumb3 > LeftHandThumb4
LeftHand > LeftHandIndex1 > LeftHandIndex2 > LeftHandIndex3 > LeftHandIndex4
Hips > LeftUpLeg > LeftLeg > LeftFoot > LeftToeBase > LeftToe_End
"""


def _prefixed(prefix: str, text: str) -> str:
    """A text with a prefix before each name."""
    return re.sub(r"[A-Za-z]\w*", lambda name: prefix + name[0], text)


def _mixamo(prefix: str) -> Rig:
    return Rig(
        "Adobe Mixamo; the engine's template in Unreal 5, IKRigAutoCharacterizer.cpp",
        _prefixed(prefix, _MIXAMO),
        _prefixed(prefix, STANDARD),
    )


TOOLS = {
    "Mixamo": _mixamo("mixamorig:"),
    "Mixamo, numbered": _mixamo("mixamorig1:"),
    "Mixamo, underscore": _mixamo("mixamorig_"),
    "Mixamo, glued": _mixamo("mixamorig"),
    "Mixamo, no prefix; Ready Player Me": _mixamo(""),
    "HumanIK": _mixamo("Character1_"),
    "Unreal 4": Rig(
        "Epic Games, SK_Mannequin; IKRigAutoCharacterizer.cpp",
        """
        root > pelvis > spine_01 > spine_02 > spine_03 > neck_01 > head
        spine_03 > clavicle_l > upperarm_l > lowerarm_l > hand_l > thumb_01_l > thumb_02_l > thumb_03_l
        upperarm_l > upperarm_twist_01_l
        lowerarm_l > lowerarm_twist_01_l
        hand_l > index_01_l > index_02_l > index_03_l
        pelvis > thigh_l > calf_l > foot_l > ball_l
        thigh_l > thigh_twist_01_l
        calf_l > calf_twist_01_l
        root > ik_foot_root > ik_foot_l
        root > ik_hand_root > ik_hand_gun > ik_hand_l
        """,
        "pelvis, spine_01, neck_01, head, thigh_l, calf_l, foot_l, ball_l, clavicle_l, upperarm_l, "
        "lowerarm_l, hand_l",
        (("_l", "_r"),),
    ),
    "Unreal 5": Rig(
        "Epic Games, SKM_Manny; IKRigAutoCharacterizer.cpp",
        """
        root > pelvis > spine_01 > spine_02 > spine_03 > spine_04 > spine_05 > neck_01 > neck_02 > head
        spine_05 > clavicle_l > upperarm_l > lowerarm_l > hand_l > thumb_01_l > thumb_02_l > thumb_03_l
        clavicle_l > clavicle_out_l
        upperarm_l > upperarm_correctiveRoot_l > upperarm_bck_l
        upperarm_l > upperarm_twist_01_l > upperarm_twistCor_01_l
        hand_l > index_metacarpal_l > index_01_l > index_02_l > index_03_l
        hand_l > wrist_inner_l
        pelvis > thigh_l > calf_l > foot_l > ball_l
        thigh_l > thigh_correctiveRoot_l > thigh_fwd_l
        root > interaction
        root > center_of_mass
        root > ik_foot_root > ik_foot_l
        root > ik_hand_root > ik_hand_gun > ik_hand_l
        """,
        "pelvis, spine_01, neck_01, head, thigh_l, calf_l, foot_l, ball_l, clavicle_l, upperarm_l, "
        "lowerarm_l, hand_l",
        (("_l", "_r"),),
    ),
    "VRoid": Rig(
        "pixiv VRoid Studio, exported VRM files",
        """
        Root > J_Bip_C_Hips > J_Bip_C_Spine > J_Bip_C_Chest > J_Bip_C_UpperChest > J_Bip_C_Neck
            > J_Bip_C_Head
        J_Bip_C_Head > J_Adj_L_FaceEye
        J_Bip_C_Head > J_Sec_Hair1_01 > J_Sec_Hair2_01
        J_Bip_C_UpperChest > J_Sec_L_Bust1 > J_Sec_L_Bust2
        J_Bip_C_UpperChest > J_Bip_L_Shoulder > J_Bip_L_UpperArm > J_Bip_L_LowerArm > J_Bip_L_Hand
            > J_Bip_L_Thumb1 > J_Bip_L_Thumb2
        J_Bip_L_UpperArm > J_Sec_L_TopsUpperArmInside_01
        J_Bip_C_Hips > J_Bip_L_UpperLeg > J_Bip_L_LowerLeg > J_Bip_L_Foot > J_Bip_L_ToeBase
        J_Bip_L_UpperLeg > J_Sec_L_SkirtSide0_01
        """,
        "J_Bip_C_Hips, J_Bip_C_Spine, J_Bip_C_Neck, J_Bip_C_Head, J_Bip_L_UpperLeg, J_Bip_L_LowerLeg, "
        "J_Bip_L_Foot, "
        "J_Bip_L_ToeBase, J_Bip_L_Shoulder, J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand",
        (("_L_", "_R_"),),
    ),
    "3ds Max Biped": Rig(
        "Autodesk 3ds Max, Biped; clavicles hang on the neck and thighs on the pelvis",
        """
        Bip01 > Bip01 Footsteps
        Bip01 > Bip01 Pelvis > Bip01 Spine > Bip01 Spine1 > Bip01 Spine2 > Bip01 Neck > Bip01 Head
            > Bip01 HeadNub
        Bip01 Neck > Bip01 L Clavicle > Bip01 L UpperArm > Bip01 L Forearm > Bip01 L Hand
            > Bip01 L Finger0 > Bip01 L Finger01 > Bip01 L Finger02 > Bip01 L Finger0Nub
        Bip01 L Hand > Bip01 L Finger1 > Bip01 L Finger11 > Bip01 L Finger12 > Bip01 L Finger1Nub
        Bip01 L UpperArm > Bip01 LUpArmTwist
        Bip01 Pelvis > Bip01 L Thigh > Bip01 L Calf > Bip01 L Foot > Bip01 L Toe0 > Bip01 L Toe0Nub
        """,
        "Bip01 Pelvis, Bip01 Spine, Bip01 Neck, Bip01 Head, Bip01 L Thigh, Bip01 L Calf, Bip01 L Foot, "
        "Bip01 L Toe0, "
        "Bip01 L Clavicle, Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand",
        (("L", "R"),),
    ),
    "3ds Max Biped, triangle pelvis": Rig(
        "Autodesk 3ds Max, Biped with Triangle Pelvis: the thighs hang on the spine",
        """
        Bip001 > Bip001 Pelvis > Bip001 Spine > Bip001 Spine1 > Bip001 Neck > Bip001 Head
        Bip001 Spine1 > Bip001 L Clavicle > Bip001 L UpperArm > Bip001 L Forearm > Bip001 L Hand
        Bip001 Spine > Bip001 L Thigh > Bip001 L Calf > Bip001 L Foot > Bip001 L Toe0
        """,
        "Bip001 Pelvis, Bip001 Spine, Bip001 Neck, Bip001 Head, Bip001 L Thigh, Bip001 L Calf, "
        "Bip001 L Foot, Bip001 L Toe0, "
        "Bip001 L Clavicle, Bip001 L UpperArm, Bip001 L Forearm, Bip001 L Hand",
        (("L", "R"),),
    ),
    "Source": Rig(
        "Valve, Source SDK: ValveBiped",
        """
        ValveBiped.Bip01_Pelvis > ValveBiped.Bip01_Spine > ValveBiped.Bip01_Spine1
            > ValveBiped.Bip01_Spine2 > ValveBiped.Bip01_Spine4 > ValveBiped.Bip01_Neck1
            > ValveBiped.Bip01_Head1 > ValveBiped.forward
        ValveBiped.Bip01_Spine4 > ValveBiped.Bip01_L_Clavicle > ValveBiped.Bip01_L_UpperArm
            > ValveBiped.Bip01_L_Forearm > ValveBiped.Bip01_L_Hand > ValveBiped.Anim_Attachment_LH
        ValveBiped.Bip01_L_UpperArm > ValveBiped.Bip01_L_Bicep
        ValveBiped.Bip01_L_Forearm > ValveBiped.Bip01_L_Ulna > ValveBiped.Bip01_L_Wrist
        ValveBiped.Bip01_L_Hand > ValveBiped.Bip01_L_Finger0 > ValveBiped.Bip01_L_Finger01
            > ValveBiped.Bip01_L_Finger02
        ValveBiped.Bip01_L_Hand > ValveBiped.Bip01_L_Finger1 > ValveBiped.Bip01_L_Finger11
        ValveBiped.Bip01_Pelvis > ValveBiped.Bip01_L_Thigh > ValveBiped.Bip01_L_Calf
            > ValveBiped.Bip01_L_Foot > ValveBiped.Bip01_L_Toe0
        """,
        "ValveBiped.Bip01_Pelvis, ValveBiped.Bip01_Spine, ValveBiped.Bip01_Neck1, ValveBiped.Bip01_Head1, "
        "ValveBiped.Bip01_L_Thigh, ValveBiped.Bip01_L_Calf, ValveBiped.Bip01_L_Foot, "
        "ValveBiped.Bip01_L_Toe0, "
        "ValveBiped.Bip01_L_Clavicle, ValveBiped.Bip01_L_UpperArm, ValveBiped.Bip01_L_Forearm, "
        "ValveBiped.Bip01_L_Hand",
        (("_L_", "_R_"), ("_LH", "_RH")),
    ),
    "Rigify, generated, deforming joints": Rig(
        "Blender's add-on rigify, metarig Human (Meta-Rig), deforming joints exported alone",
        """
        root > DEF-spine > DEF-spine.001 > DEF-spine.002 > DEF-spine.003 > DEF-spine.004 > DEF-spine.005
            > DEF-spine.006
        DEF-spine > DEF-pelvis.L
        DEF-spine.003 > DEF-shoulder.L
        DEF-spine.003 > DEF-breast.L
        DEF-shoulder.L > DEF-upper_arm.L > DEF-upper_arm.L.001 > DEF-forearm.L > DEF-forearm.L.001
            > DEF-hand.L > DEF-thumb.01.L > DEF-thumb.02.L > DEF-thumb.03.L
        DEF-hand.L > DEF-palm.01.L > DEF-f_index.01.L > DEF-f_index.02.L > DEF-f_index.03.L
        DEF-spine > DEF-thigh.L > DEF-thigh.L.001 > DEF-shin.L > DEF-shin.L.001 > DEF-foot.L > DEF-toe.L
        """,
        "DEF-spine, DEF-spine.001, DEF-spine.004, DEF-spine.006, DEF-thigh.L, DEF-shin.L, DEF-foot.L, "
        "DEF-toe.L, "
        "DEF-shoulder.L, DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L",
        ((".L", ".R"),),
    ),
    "Rigify, generated, limbs apart": Rig(
        "as above, from an exporter that leaves out the joints between: the limbs hang on the root",
        """
        root > DEF-spine > DEF-spine.001 > DEF-spine.002 > DEF-spine.003 > DEF-spine.004 > DEF-spine.005
            > DEF-spine.006
        root > DEF-pelvis.L
        root > DEF-shoulder.L
        root > DEF-upper_arm.L > DEF-upper_arm.L.001 > DEF-forearm.L > DEF-forearm.L.001 > DEF-hand.L
        root > DEF-thigh.L > DEF-thigh.L.001 > DEF-shin.L > DEF-shin.L.001 > DEF-foot.L > DEF-toe.L
        """,
        "DEF-spine, DEF-spine.001, DEF-spine.004, DEF-spine.006, DEF-thigh.L, DEF-shin.L, DEF-foot.L, "
        "DEF-toe.L, "
        "DEF-shoulder.L, DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L",
        ((".L", ".R"),),
    ),
    "Rigify, generated, all joints": Rig(
        "as above, with controls and mechanism",
        """
        root > MCH-torso.parent > torso > hips
        torso > chest > MCH-WGT-chest
        torso > neck > head
        torso > MCH-spine > spine_fk > ORG-spine > DEF-spine
        ORG-spine > ORG-pelvis.L > DEF-pelvis.L
        ORG-spine > ORG-spine.001 > ORG-spine.002 > ORG-spine.003 > ORG-spine.004 > ORG-spine.005
            > ORG-spine.006
        DEF-spine > DEF-spine.001 > DEF-spine.002 > DEF-spine.003 > DEF-spine.004 > DEF-spine.005
            > DEF-spine.006
        ORG-spine.003 > shoulder.L > ORG-shoulder.L > DEF-shoulder.L
        ORG-shoulder.L > upper_arm_parent.L > upper_arm_fk.L > forearm_fk.L > hand_fk.L
        upper_arm_parent.L > ORG-upper_arm.L > ORG-forearm.L > ORG-hand.L
        ORG-upper_arm.L > DEF-upper_arm.L > DEF-upper_arm.L.001 > DEF-forearm.L > DEF-forearm.L.001
            > DEF-hand.L
        root > hand_ik.L
        root > foot_ik.L
        root > upper_arm_ik_target.L
        ORG-spine > thigh_parent.L > thigh_fk.L > shin_fk.L > foot_fk.L > toe_fk.L
        thigh_parent.L > ORG-thigh.L > ORG-shin.L > ORG-foot.L > ORG-toe.L
        ORG-thigh.L > DEF-thigh.L > DEF-thigh.L.001 > DEF-shin.L > DEF-shin.L.001 > DEF-foot.L > DEF-toe.L
        """,
        "DEF-spine, DEF-spine.001, DEF-spine.004, DEF-spine.006, DEF-thigh.L, DEF-shin.L, DEF-foot.L, "
        "DEF-toe.L, "
        "DEF-shoulder.L, DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L",
        ((".L", ".R"),),
    ),
    "Rigify, metarig": Rig(
        "Blender's add-on rigify, metarigs/human.py",
        """
        spine > spine.001 > spine.002 > spine.003 > spine.004 > spine.005 > spine.006 > face > nose
            > nose.001
        face > eye.L
        face > lid.T.L > lid.T.L.001
        face > ear.L
        spine.003 > shoulder.L > upper_arm.L > forearm.L > hand.L > palm.01.L > f_index.01.L
            > f_index.02.L > f_index.03.L
        palm.01.L > thumb.01.L > thumb.02.L > thumb.03.L
        spine.003 > breast.L
        spine > pelvis.L
        spine > thigh.L > shin.L > foot.L > toe.L
        foot.L > heel.02.L
        """,
        "spine, spine.001, spine.004, spine.006, thigh.L, shin.L, foot.L, toe.L, shoulder.L, "
        "upper_arm.L, forearm.L, hand.L",
        ((".L", ".R"),),
    ),
    "Daz Genesis 3 and 8": Rig(
        "Daz 3D Genesis 3 and 8; IKRigAutoCharacterizer.cpp, Daz3dBones",
        """
        Genesis8Female > hip > pelvis > lThighBend > lThighTwist > lShin > lFoot > lMetatarsals > lToe
            > lBigToe > lBigToe_2
        lFoot > lHeel
        hip > abdomenLower > abdomenUpper > chestLower > chestUpper > neckLower > neckUpper > head
            > upperFaceRig > lBrowInner
        head > lEye
        head > lowerFaceRig > lowerJaw > tongue01
        chestUpper > lCollar > lShldrBend > lShldrTwist > lForearmBend > lForearmTwist > lHand > lThumb1
            > lThumb2 > lThumb3
        lHand > lCarpal1 > lIndex1 > lIndex2 > lIndex3
        chestLower > lPectoral
        """,
        "hip, abdomenLower, neckLower, head, lThighBend, lShin, lFoot, lToe, lCollar, lShldrBend, "
        "lForearmBend, lHand",
        (("l", "r"),),
    ),
    "Daz Genesis 9": Rig(
        "Daz 3D Genesis 9",
        """
        Genesis9 > hip > pelvis > l_thigh > l_thightwist1
        l_thigh > l_thightwist2
        l_thigh > l_shin > l_foot > l_metatarsal > l_toes > l_bigtoe1
        hip > spine1 > spine2 > spine3 > spine4 > neck1 > neck2 > head > l_eye
        head > lowerjaw
        spine4 > l_pectoral
        spine4 > l_shoulder > l_upperarm > l_forearm > l_hand > l_thumb1 > l_thumb2 > l_thumb3
        l_upperarm > l_upperarmtwist1
        l_hand > l_indexmetacarpal > l_index1 > l_index2 > l_index3
        """,
        "hip, spine1, neck1, head, l_thigh, l_shin, l_foot, l_toes, l_shoulder, l_upperarm, l_forearm, "
        "l_hand",
        (("l", "r"),),
    ),
    "Quaternius": Rig(
        "quaternius.com, Ultimate Animated Character Pack: the feet hang on the root, the legs on Body",
        """
        Root > Foot.L > Foot.L_end
        Root > PT.L
        Root > Body > Hips > Abdomen > Torso > Neck > Head > Head_end
        Torso > Shoulder.L > UpperArm.L > LowerArm.L > Palm.L > Index1.L > Index2.L
        Palm.L > Thumb1.L > Thumb2.L
        Body > UpperLeg.L > LowerLeg.L > LowerLeg.L_end
        """,
        "Body, Abdomen, Neck, Head, UpperLeg.L, LowerLeg.L, Foot.L, -, Shoulder.L, UpperArm.L, "
        "LowerArm.L, Palm.L",
        ((".L", ".R"),),
    ),
    "KayKit": Rig(
        "Kay Lousberg, KayKit Adventurers 1.0",
        """
        Rig > root > hips > spine > chest > head
        chest > upperarm.l > lowerarm.l > wrist.l > hand.l > handslot.l
        hips > upperleg.l > lowerleg.l > foot.l > toes.l
        root > kneeIK.l
        root > control-toe-roll.l > control-heel-roll.l > control-foot-roll.l > heelIK.l > IK-foot.l
            > IK-toe.l
        root > elbowIK.l
        root > handIK.l
        """,
        "hips, spine, -, head, upperleg.l, lowerleg.l, foot.l, toes.l, -, upperarm.l, lowerarm.l, hand.l",
        ((".l", ".r"),),
    ),
    "MakeHuman": Rig(
        "MakeHuman, rigs/default.mhskel",
        """
        root > spine05 > spine04 > spine03 > spine02 > spine01 > neck01 > neck02 > neck03 > head > jaw
            > tongue00
        root > pelvis.L > upperleg01.L > upperleg02.L > lowerleg01.L > lowerleg02.L > foot.L > toe1-1.L
            > toe1-2.L
        foot.L > toe2-1.L > toe2-2.L > toe2-3.L
        foot.L > toe3-1.L > toe3-2.L > toe3-3.L
        head > eye.L
        spine02 > breast.L
        spine01 > clavicle.L > shoulder01.L > upperarm01.L > upperarm02.L > lowerarm01.L > lowerarm02.L
            > wrist.L > finger1-1.L > finger1-2.L > finger1-3.L
        wrist.L > metacarpal1.L > finger2-1.L > finger2-2.L > finger2-3.L
        metacarpal1.L > finger3-1.L > finger3-2.L > finger3-3.L
        wrist.L > metacarpal3.L > finger4-1.L > finger4-2.L > finger4-3.L
        wrist.L > metacarpal4.L > finger5-1.L > finger5-2.L > finger5-3.L
        """,
        "root, spine05, neck01, head, upperleg01.L, lowerleg01.L, foot.L, -, clavicle.L, upperarm01.L, "
        "lowerarm01.L, wrist.L",
        ((".L", ".R"),),
    ),
    "Character Creator": Rig(
        "Reallusion Character Creator 3 and 4; IKRigAutoCharacterizer.cpp",
        """
        CC_Base_BoneRoot > CC_Base_Hip > CC_Base_Pelvis > CC_Base_L_Thigh > CC_Base_L_Calf
            > CC_Base_L_Foot > CC_Base_L_ToeBase > CC_Base_L_BigToe1
        CC_Base_L_ToeBase > CC_Base_L_IndexToe1
        CC_Base_L_Calf > CC_Base_L_KneeShareBone
        CC_Base_L_Calf > CC_Base_L_CalfTwist01
        CC_Base_L_Thigh > CC_Base_L_ThighTwist01
        CC_Base_Hip > CC_Base_Waist > CC_Base_Spine01 > CC_Base_Spine02 > CC_Base_NeckTwist01
            > CC_Base_NeckTwist02 > CC_Base_Head > CC_Base_FacialBone > CC_Base_JawRoot
            > CC_Base_Tongue01
        CC_Base_FacialBone > CC_Base_L_Eye
        CC_Base_Spine02 > CC_Base_L_Clavicle > CC_Base_L_Upperarm > CC_Base_L_Forearm > CC_Base_L_Hand
            > CC_Base_L_Mid1 > CC_Base_L_Mid2 > CC_Base_L_Mid3
        CC_Base_L_Forearm > CC_Base_L_ElbowShareBone
        CC_Base_L_Upperarm > CC_Base_L_UpperarmTwist01
        CC_Base_Spine02 > CC_Base_L_RibsTwist > CC_Base_L_Breast
        """,
        "CC_Base_Hip, CC_Base_Waist, CC_Base_NeckTwist01, CC_Base_Head, CC_Base_L_Thigh, "
        "CC_Base_L_Calf, CC_Base_L_Foot, "
        "CC_Base_L_ToeBase, CC_Base_L_Clavicle, CC_Base_L_Upperarm, CC_Base_L_Forearm, CC_Base_L_Hand",
        (("_L_", "_R_"),),
    ),
    "MikuMikuDance": Rig(
        "MikuMikuDance, standard skeleton of PMX models; mmd_tools for Blender",
        """
        全ての親 > センター > グルーブ > 腰 > 上半身 > 上半身2 > 首 > 頭 > 左目
        腰 > 下半身 > 左足 > 左ひざ > 左足首 > 左つま先
        全ての親 > 左足IK親 > 左足ＩＫ > 左つま先ＩＫ
        下半身 > 左足D > 左ひざD > 左足首D > 左足先EX
        上半身2 > 左肩P > 左肩 > 左肩C > 左腕 > 左腕捩 > 左ひじ > 左手捩 > 左手首
            > 左親指０ > 左親指１ > 左親指２
        左手首 > 左人指１ > 左人指２ > 左人指３
        左腕 > 左腕捩1
        """,
        "腰, 上半身, 首, 頭, 左足, 左ひざ, 左足首, 左つま先, 左肩, 左腕, 左ひじ, 左手首",
        (("左", "右"),),
    ),
    "Advanced Skeleton": Rig(
        "AnimationStudios Advanced Skeleton 5 for Maya",
        """
        Root_M > RootPart1_M > Spine1_M > Spine1Part1_M > Chest_M > Neck_M > NeckPart1_M > Head_M
            > HeadEnd_M
        Head_M > Jaw_M > JawEnd_M
        Head_M > Eye_L > EyeEnd_L
        Chest_M > Scapula_L > Shoulder_L > ShoulderPart1_L > Elbow_L > ElbowPart1_L > Wrist_L
            > MiddleFinger1_L > MiddleFinger2_L > MiddleFinger3_L > MiddleFinger4_L
        Root_M > Hip_L > HipPart1_L > Knee_L > Ankle_L > Toes_L > ToesEnd_L
        """,
        "Root_M, Spine1_M, Neck_M, Head_M, Hip_L, Knee_L, Ankle_L, Toes_L, Scapula_L, Shoulder_L, "
        "Elbow_L, Wrist_L",
        (("_L", "_R"),),
    ),
    "mGear": Rig(
        "mGear's EPIC template; IKRigAutoCharacterizer.cpp",
        """
        root_C0_0_jnt > spine_C0_pelvis_jnt > spine_C0_01_jnt > spine_C0_02_jnt > spine_C0_03_jnt
            > neck_C0_01_jnt > neck_C0_02_jnt > neck_C0_head_jnt > headBendNose_C0_0_jnt
        spine_C0_03_jnt > shoulder_L0_0_jnt > arm_L0_upperarm_jnt > arm_L0_lowerarm_jnt
            > arm_L0_hand_jnt > thumb_L0_0_jnt > thumb_L0_1_jnt > thumb_L0_2_jnt
        spine_C0_pelvis_jnt > leg_L0_thigh_jnt > leg_L0_calf_jnt > leg_L0_foot_jnt > foot_L0_ball_jnt
        root_C0_0_jnt > ik_foot_root_C0_0_jnt > ik_foot_L0_0_jnt
        """,
        "spine_C0_pelvis_jnt, spine_C0_01_jnt, neck_C0_01_jnt, neck_C0_head_jnt, leg_L0_thigh_jnt, "
        "leg_L0_calf_jnt, "
        "leg_L0_foot_jnt, foot_L0_ball_jnt, shoulder_L0_0_jnt, arm_L0_upperarm_jnt, "
        "arm_L0_lowerarm_jnt, arm_L0_hand_jnt",
        (("_L", "_R"),),
    ),
    "Poser": Rig(
        "Smith Micro Poser, .cr2 actors",
        """
        BODY > hip > abdomen > chest > neck > head > lEye
        chest > lCollar > lShldr > lForeArm > lHand > lThumb1 > lThumb2 > lThumb3
        hip > lButtock > lThigh > lShin > lFoot > lToe
        """,
        "hip, abdomen, neck, head, lThigh, lShin, lFoot, lToe, lCollar, lShldr, lForeArm, lHand",
        (("l", "r"),),
    ),
    "Second Life": Rig(
        "Linden Lab, avatar_skeleton.xml, without Bento's spine",
        """
        mPelvis > mTorso > mChest > mNeck > mHead > mSkull
        mHead > mEyeLeft
        mChest > mCollarLeft > mShoulderLeft > mElbowLeft > mWristLeft > mHandThumb1Left
            > mHandThumb2Left > mHandThumb3Left
        mPelvis > mHipLeft > mKneeLeft > mAnkleLeft > mFootLeft > mToeLeft
        """,
        "mPelvis, mTorso, mNeck, mHead, mHipLeft, mKneeLeft, mAnkleLeft, mToeLeft, "
        "mCollarLeft, mShoulderLeft, mElbowLeft, mWristLeft",
    ),
    "Roblox R15": Rig(
        "Roblox creator documentation, R15 avatars",
        """
        HumanoidRootPart > LowerTorso > UpperTorso > Head
        UpperTorso > LeftUpperArm > LeftLowerArm > LeftHand
        LowerTorso > LeftUpperLeg > LeftLowerLeg > LeftFoot
        """,
        "LowerTorso, UpperTorso, -, Head, LeftUpperLeg, LeftLowerLeg, LeftFoot, -, -, LeftUpperArm, "
        "LeftLowerArm, LeftHand",
    ),
    "Cascadeur": Rig(
        "Nekki Cascadeur, standard rig",
        """
        pelvis > stomach > chest > neck > head
        chest > clavicle_l > arm_l > forearm_l > hand_l
        pelvis > thigh_l > calf_l > foot_l > toe_l
        """,
        "pelvis, stomach, neck, head, thigh_l, calf_l, foot_l, toe_l, clavicle_l, arm_l, forearm_l, hand_l",
        (("_l", "_r"),),
    ),
    "Maya": Rig(
        "a custom of Autodesk Maya's riggers: side, part, _jnt",
        """
        root_jnt > c_hips_jnt > c_spine_01_jnt > c_spine_02_jnt > c_chest_jnt > c_neck_jnt > c_head_jnt
            > c_head_end_jnt
        c_chest_jnt > l_clavicle_jnt > l_upArm_jnt > l_loArm_jnt > l_hand_jnt
        c_hips_jnt > l_upLeg_jnt > l_loLeg_jnt > l_foot_jnt > l_ball_jnt > l_toe_end_jnt
        """,
        "c_hips_jnt, c_spine_01_jnt, c_neck_jnt, c_head_jnt, l_upLeg_jnt, l_loLeg_jnt, l_foot_jnt, "
        "l_ball_jnt, "
        "l_clavicle_jnt, l_upArm_jnt, l_loArm_jnt, l_hand_jnt",
        (("l", "r"),),
    ),
}

RIGS = CAPTURES | TOOLS | GAMES
