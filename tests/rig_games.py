"""The names of joints in further tools, engines and games; `rigs` explains how a rig is written."""

from rigs import Rig

GAMES = {
    "Apple ARKit": Rig(
        "Apple ARKit, ARSkeletonDefinition.defaultBody3D",
        """
        root > hips_joint > left_upLeg_joint > left_leg_joint > left_foot_joint > left_toes_joint
            > left_toesEnd_joint
        hips_joint > spine_1_joint > spine_2_joint > spine_3_joint > spine_7_joint > neck_1_joint
            > neck_2_joint > head_joint > jaw_joint > chin_joint
        head_joint > left_eye_joint > left_eyeLowerLid_joint
        spine_7_joint > left_shoulder_1_joint > left_arm_joint > left_forearm_joint > left_hand_joint
            > left_handIndexStart_joint > left_handIndex_1_joint > left_handIndex_2_joint
        """,
        "hips_joint, spine_1_joint, neck_1_joint, head_joint, left_upLeg_joint, left_leg_joint, "
        "left_foot_joint, left_toes_joint, left_shoulder_1_joint, left_arm_joint, left_forearm_joint, "
        "left_hand_joint",
        (("left", "right"),),
    ),
    "Synty": Rig(
        "Synty Studios, POLYGON characters",
        """
        Root > Hips > Spine_01 > Spine_02 > Spine_03 > Neck > Head > Eyes
        Head > Eyebrows
        Spine_03 > Clavicle_L > Shoulder_L > Elbow_L > Hand_L > Thumb_01_L > Thumb_02_L > Thumb_03_L
        Hand_L > IndexFinger_01_L > IndexFinger_02_L > IndexFinger_03_L > IndexFinger_04_L
        Hips > UpperLeg_L > LowerLeg_L > Ankle_L > Ball_L > Toes_L
        """,
        "Hips, Spine_01, Neck, Head, UpperLeg_L, LowerLeg_L, Ankle_L, Ball_L, "
        "Clavicle_L, Shoulder_L, Elbow_L, Hand_L",
        (("_L", "_R"),),
    ),
    "The Sims 4": Rig(
        "Electronic Arts, The Sims 4; Sims 4 Studio's rig",
        """
        b__ROOT__ > b__ROOT_bind__ > b__Pelvis__ > b__L_Thigh__ > b__L_Calf__ > b__L_Foot__ > b__L_Toe__
        b__L_Thigh__ > b__L_ThighTwist__
        b__ROOT_bind__ > b__Spine0__ > b__Spine1__ > b__Spine2__ > b__Neck__ > b__Head__ > b__CAS_Chin__
        b__Spine2__ > b__L_Clavicle__ > b__L_UpperArm__ > b__L_Forearm__ > b__L_Hand__ > b__L_Thumb0__
        """,
        "b__ROOT_bind__, b__Spine0__, b__Neck__, b__Head__, b__L_Thigh__, b__L_Calf__, b__L_Foot__, "
        "b__L_Toe__, b__L_Clavicle__, b__L_UpperArm__, b__L_Forearm__, b__L_Hand__",
        (("_L_", "_R_"),),
    ),
    "Skyrim": Rig(
        "Bethesda, The Elder Scrolls V, skeleton.nif",
        """
        NPC Root [Root] > NPC COM [COM ] > NPC Pelvis [Pelv] > NPC L Thigh [LThg] > NPC L Calf [LClf]
            > NPC L Foot [Lft ] > NPC L Toe0 [LToe]
        NPC COM [COM ] > NPC Spine [Spn0] > NPC Spine1 [Spn1] > NPC Spine2 [Spn2] > NPC Neck [Neck]
            > NPC Head [Head]
        NPC Spine2 [Spn2] > NPC L Clavicle [LClv] > NPC L UpperArm [LUar] > NPC L Forearm [LLar]
            > NPC L Hand [LHnd] > NPC L Finger00 [LF00]
        NPC L UpperArm [LUar] > NPC L UpperarmTwist1 [LUt1]
        """,
        "NPC COM [COM ], NPC Spine [Spn0], NPC Neck [Neck], NPC Head [Head], NPC L Thigh [LThg], "
        "NPC L Calf [LClf], NPC L Foot [Lft ], NPC L Toe0 [LToe], NPC L Clavicle [LClv], "
        "NPC L UpperArm [LUar], NPC L Forearm [LLar], NPC L Hand [LHnd]",
        ((" L ", " R "), ("[L", "[R")),
    ),
    "Grand Theft Auto V": Rig(
        "Rockstar, Grand Theft Auto V, peds",
        """
        SKEL_ROOT > SKEL_Pelvis > SKEL_L_Thigh > SKEL_L_Calf > SKEL_L_Foot > SKEL_L_Toe0
        SKEL_L_Thigh > RB_L_ThighRoll
        SKEL_L_Calf > MH_L_Knee
        SKEL_L_Foot > IK_L_Foot
        SKEL_L_Foot > PH_L_Foot
        SKEL_ROOT > SKEL_Spine_Root > SKEL_Spine0 > SKEL_Spine1 > SKEL_Spine2 > SKEL_Spine3 > SKEL_Neck_1
            > SKEL_Head > IK_Head
        SKEL_Spine3 > SKEL_L_Clavicle > SKEL_L_UpperArm > SKEL_L_Forearm > SKEL_L_Hand > SKEL_L_Finger00
        SKEL_L_Hand > PH_L_Hand
        """,
        "SKEL_ROOT, SKEL_Spine_Root, SKEL_Neck_1, SKEL_Head, SKEL_L_Thigh, SKEL_L_Calf, SKEL_L_Foot, "
        "SKEL_L_Toe0, SKEL_L_Clavicle, SKEL_L_UpperArm, SKEL_L_Forearm, SKEL_L_Hand",
        (("_L_", "_R_"),),
    ),
    "Team Fortress 2": Rig(
        "Valve, Team Fortress 2, player models",
        """
        bip_pelvis > bip_spine_0 > bip_spine_1 > bip_spine_2 > bip_spine_3 > bip_neck > bip_head
        bip_spine_3 > bip_collar_L > bip_upperArm_L > bip_lowerArm_L > bip_hand_L > weapon_bone_L
        bip_pelvis > bip_hip_L > bip_knee_L > bip_foot_L > bip_toe_L
        """,
        "bip_pelvis, bip_spine_0, bip_neck, bip_head, bip_hip_L, bip_knee_L, bip_foot_L, bip_toe_L, "
        "bip_collar_L, bip_upperArm_L, bip_lowerArm_L, bip_hand_L",
        (("_L", "_R"),),
    ),
    "Auto-Rig Pro": Rig(
        "Auto-Rig Pro for Blender, export for engines",
        """
        root > root.x > spine_01.x > spine_02.x > spine_03.x > neck.x > head.x
        spine_03.x > shoulder.l > arm_stretch.l > forearm_stretch.l > hand.l > c_thumb1.l > c_thumb2.l
        arm_stretch.l > arm_twist.l
        root.x > thigh_stretch.l > leg_stretch.l > foot.l > toes_01.l
        thigh_stretch.l > thigh_twist.l
        """,
        "root.x, spine_01.x, neck.x, head.x, thigh_stretch.l, leg_stretch.l, foot.l, toes_01.l, "
        "shoulder.l, arm_stretch.l, forearm_stretch.l, hand.l",
        ((".l", ".r"),),
    ),
    "MMD in English, Cats": Rig(
        "Cats Blender plugin, names for VRChat; those of mmd_tools are alike",
        """
        Hips > Spine > Chest > Neck > Head > Eye_L
        Chest > Left shoulder > Left arm > Left elbow > Left wrist > Thumb0_L > Thumb1_L > Thumb2_L
        Hips > Left leg > Left knee > Left ankle > Left toe
        """,
        "Hips, Spine, Neck, Head, Left leg, Left knee, Left ankle, Left toe, "
        "Left shoulder, Left arm, Left elbow, Left wrist",
        (("Left", "Right"), ("_L", "_R")),
    ),
    "DeepMotion": Rig(
        "DeepMotion Animate 3D, FBX and BVH export",
        """
        root_JNT > hips_JNT > spine_JNT > spine1_JNT > spine2_JNT > neck_JNT > head_JNT
        spine2_JNT > l_shoulder_JNT > l_arm_JNT > l_forearm_JNT > l_hand_JNT > l_handThumb1_JNT
        hips_JNT > l_upleg_JNT > l_leg_JNT > l_foot_JNT > l_toebase_JNT
        """,
        "hips_JNT, spine_JNT, neck_JNT, head_JNT, l_upleg_JNT, l_leg_JNT, l_foot_JNT, l_toebase_JNT, "
        "l_shoulder_JNT, l_arm_JNT, l_forearm_JNT, l_hand_JNT",
        (("l", "r"),),
    ),
    "XNALara": Rig(
        "XNALara and XPS, standard names of poses",
        """
        root ground > root hips > spine lower > spine upper > head neck lower > head neck upper
        spine upper > arm left shoulder 1 > arm left shoulder 2 > arm left elbow > arm left wrist
            > arm left finger 1a > arm left finger 1b
        root hips > pelvis > leg left thigh > leg left knee > leg left ankle > leg left toes
        """,
        "root hips, spine lower, head neck lower, -, leg left thigh, leg left knee, leg left ankle, "
        "leg left toes, arm left shoulder 1, arm left shoulder 2, arm left elbow, arm left wrist",
        (("left", "right"),),
    ),
    "Rigify before Blender 2.8": Rig(
        "Blender's add-on rigify, metarigs of 2.7x",
        """
        hips > spine > chest > neck > head
        chest > shoulder.L > upper_arm.L > forearm.L > hand.L > palm.01.L > finger_index.01.L
            > finger_index.02.L > finger_index.03.L
        hips > thigh.L > shin.L > foot.L > toe.L
        shin.L > heel.L > heel.02.L
        """,
        "hips, spine, neck, head, thigh.L, shin.L, foot.L, toe.L, shoulder.L, upper_arm.L, forearm.L, hand.L",
        ((".L", ".R"),),
    ),
}
