"""The names of joints in motion capture and its data sets; `rigs` explains how a rig is written."""

from rigs import Rig

#: The bones of MotionBuilder's names, which many systems use.
STANDARD = (
    "Hips, Spine, Neck, Head, LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase, "
    "LeftShoulder, LeftArm, LeftForeArm, LeftHand"
)
_ASF = (
    *("hip", "femur", "tibia", "foot", "toes", "clavicle"),
    *("humerus", "radius", "wrist", "hand", "fingers", "thumb"),
)

CAPTURES = {
    "MotionBuilder with roll joints": Rig(
        "Autodesk HumanIK, characterization node names",
        """
        Reference > Hips > Spine > Spine1 > Spine2 > Spine3 > Neck > Head
        Spine3 > LeftShoulder > LeftArm > LeftForeArm > LeftHand > LeftHandThumb1 > LeftHandThumb2
            > LeftHandThumb3
        LeftArm > LeftArmRoll
        LeftForeArm > LeftForeArmRoll
        LeftHand > LeftInHandIndex > LeftHandIndex1 > LeftHandIndex2 > LeftHandIndex3
        Hips > LeftUpLeg > LeftUpLegRoll
        LeftUpLeg > LeftLeg > LeftLegRoll
        LeftLeg > LeftFoot > LeftToeBase
        """,
        STANDARD,
    ),
    "SMPL": Rig(
        "Loper et al. 2015; smplx/joint_names.py, SMPL_JOINT_NAMES",
        """
        pelvis > spine1 > spine2 > spine3 > neck > head
        spine3 > left_collar > left_shoulder > left_elbow > left_wrist > left_hand
        pelvis > left_hip > left_knee > left_ankle > left_foot
        """,
        "pelvis, spine1, neck, head, left_hip, left_knee, left_ankle, left_foot, "
        "left_collar, left_shoulder, left_elbow, left_wrist",
        (("left", "right"),),
    ),
    "SMPL, FBX": Rig(
        "SMPL for Unity and Maya: m_avg_ and f_avg_",
        """
        m_avg_root > m_avg_Pelvis > m_avg_Spine1 > m_avg_Spine2 > m_avg_Spine3 > m_avg_Neck > m_avg_Head
        m_avg_Spine3 > m_avg_L_Collar > m_avg_L_Shoulder > m_avg_L_Elbow > m_avg_L_Wrist > m_avg_L_Hand
        m_avg_Pelvis > m_avg_L_Hip > m_avg_L_Knee > m_avg_L_Ankle > m_avg_L_Foot
        """,
        "m_avg_Pelvis, m_avg_Spine1, m_avg_Neck, m_avg_Head, m_avg_L_Hip, m_avg_L_Knee, m_avg_L_Ankle, "
        "m_avg_L_Foot, "
        "m_avg_L_Collar, m_avg_L_Shoulder, m_avg_L_Elbow, m_avg_L_Wrist",
        (("_L_", "_R_"),),
    ),
    "SMPL-X": Rig(
        "Pavlakos et al. 2019; smplx/joint_names.py, JOINT_NAMES",
        """
        root > pelvis > spine1 > spine2 > spine3 > neck > head > jaw
        head > left_eye_smplhf
        spine3 > left_collar > left_shoulder > left_elbow > left_wrist > left_index1 > left_index2
            > left_index3
        left_wrist > left_thumb1 > left_thumb2 > left_thumb3
        left_wrist > left_pinky1 > left_pinky2 > left_pinky3
        pelvis > left_hip > left_knee > left_ankle > left_foot
        """,
        "pelvis, spine1, neck, head, left_hip, left_knee, left_ankle, left_foot, "
        "left_collar, left_shoulder, left_elbow, left_wrist",
        (("left", "right"),),
    ),
    "CMU, cgspeed": Rig(
        "B. Hahne's conversion of the CMU graphics lab's collection, cgspeed.com",
        """
        Hips > LHipJoint > LeftUpLeg > LeftLeg > LeftFoot > LeftToeBase
        Hips > LowerBack > Spine > Spine1 > Neck > Neck1 > Head
        Spine1 > LeftShoulder > LeftArm > LeftForeArm > LeftHand > LeftFingerBase > LeftHandIndex1
        LeftHand > LThumb
        """,
        "Hips, LowerBack, Neck, Head, LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase, "
        "LeftShoulder, LeftArm, LeftForeArm, LeftHand",
        (("Left", "Right"), ("LHip", "RHip"), ("LThumb", "RThumb")),
    ),
    "CMU, ASF": Rig(
        "CMU graphics lab motion capture database, .asf",
        """
        root > lhipjoint > lfemur > ltibia > lfoot > ltoes
        root > lowerback > upperback > thorax > lowerneck > upperneck > head
        thorax > lclavicle > lhumerus > lradius > lwrist > lhand > lfingers
        lwrist > lthumb
        """,
        "root, lowerback, lowerneck, head, lfemur, ltibia, lfoot, ltoes, lclavicle, lhumerus, lradius, "
        "lwrist",
        tuple(("l" + word, "r" + word) for word in _ASF),
    ),
    "LAFAN1": Rig(
        "Ubisoft La Forge animation data set, Harvey et al. 2020",
        """
        Hips > LeftUpLeg > LeftLeg > LeftFoot > LeftToe
        Hips > Spine > Spine1 > Spine2 > Neck > Head
        Spine2 > LeftShoulder > LeftArm > LeftForeArm > LeftHand
        """,
        "Hips, Spine, Neck, Head, LeftUpLeg, LeftLeg, LeftFoot, LeftToe, "
        "LeftShoulder, LeftArm, LeftForeArm, LeftHand",
    ),
    "Rokoko": Rig(
        "Rokoko Studio, skeleton of the BVH export",
        """
        Hips > Spine1 > Spine2 > Spine3 > Spine4 > Neck > Head
        Spine4 > LeftShoulder > LeftArm > LeftForeArm > LeftHand > LeftFinger1Metacarpal
            > LeftFinger1Proximal > LeftFinger1Distal
        LeftHand > LeftFinger2Metacarpal > LeftFinger2Proximal > LeftFinger2Medial > LeftFinger2Distal
        LeftHand > LeftFinger3Metacarpal > LeftFinger3Proximal > LeftFinger3Medial > LeftFinger3Distal
        LeftHand > LeftFinger4Metacarpal > LeftFinger4Proximal > LeftFinger4Medial > LeftFinger4Distal
        LeftHand > LeftFinger5Metacarpal > LeftFinger5Proximal > LeftFinger5Medial > LeftFinger5Distal
        Hips > LeftThigh > LeftShin > LeftFoot > LeftToe
        """,
        "Hips, Spine1, Neck, Head, LeftThigh, LeftShin, LeftFoot, LeftToe, "
        "LeftShoulder, LeftArm, LeftForeArm, LeftHand",
    ),
    "Xsens MVN": Rig(
        "Movella (Xsens) MVN user manual, segments",
        """
        Pelvis > L5 > L3 > T12 > T8 > Neck > Head
        T8 > LeftShoulder > LeftUpperArm > LeftForeArm > LeftHand
        Pelvis > LeftUpperLeg > LeftLowerLeg > LeftFoot > LeftToe
        """,
        "Pelvis, L5, Neck, Head, LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToe, "
        "LeftShoulder, LeftUpperArm, LeftForeArm, LeftHand",
    ),
    "Xsens MVN, BVH": Rig(
        "Movella (Xsens) MVN, BVH export",
        """
        Hips > Chest > Chest2 > Chest3 > Chest4 > Neck > Head
        Chest4 > LeftCollar > LeftShoulder > LeftElbow > LeftWrist
        Hips > LeftHip > LeftKnee > LeftAnkle > LeftToe
        """,
        "Hips, Chest, Neck, Head, LeftHip, LeftKnee, LeftAnkle, LeftToe, "
        "LeftCollar, LeftShoulder, LeftElbow, LeftWrist",
    ),
    "OptiTrack": Rig(
        "OptiTrack Motive documentation, skeleton segments",
        """
        Skeleton_Hip > Skeleton_Ab > Skeleton_Chest > Skeleton_Neck > Skeleton_Head
        Skeleton_Chest > Skeleton_LShoulder > Skeleton_LUArm > Skeleton_LFArm > Skeleton_LHand
            > Skeleton_LThumb1
        Skeleton_Hip > Skeleton_LThigh > Skeleton_LShin > Skeleton_LFoot > Skeleton_LToe
        """,
        "Skeleton_Hip, Skeleton_Ab, Skeleton_Neck, Skeleton_Head, Skeleton_LThigh, Skeleton_LShin, "
        "Skeleton_LFoot, "
        "Skeleton_LToe, Skeleton_LShoulder, Skeleton_LUArm, Skeleton_LFArm, Skeleton_LHand",
        (("_L", "_R"),),
    ),
    "Perception Neuron": Rig(
        "Noitom Axis Neuron, BVH export",
        """
        Hips > LeftUpLeg > LeftLeg > LeftFoot
        Hips > Spine > Spine1 > Spine2 > Spine3 > Neck > Head
        Spine3 > LeftShoulder > LeftArm > LeftForeArm > LeftHand > LeftHandThumb1 > LeftHandThumb2
            > LeftHandThumb3
        LeftHand > LeftInHandIndex > LeftHandIndex1 > LeftHandIndex2 > LeftHandIndex3
        """,
        "Hips, Spine, Neck, Head, LeftUpLeg, LeftLeg, LeftFoot, -, LeftShoulder, LeftArm, LeftForeArm, "
        "LeftHand",
    ),
    "ACCAD, KIT, SFU": Rig(
        "Ohio State University ACCAD, open motion data",
        """
        Hips > ToSpine > Spine > Spine1 > Neck > Head
        Spine1 > LeftShoulder > LeftArm > LeftForeArm > LeftHand
        Hips > LeftUpLeg > LeftLeg > LeftFoot > LeftToeBase
        """,
        "Hips, ToSpine, Neck, Head, LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase, "
        "LeftShoulder, LeftArm, LeftForeArm, LeftHand",
    ),
    "Kinect": Rig(
        "Microsoft Kinect for Windows SDK 2.0, JointType",
        """
        SpineBase > SpineMid > SpineShoulder > Neck > Head
        SpineShoulder > ShoulderLeft > ElbowLeft > WristLeft > HandLeft > HandTipLeft
        WristLeft > ThumbLeft
        SpineBase > HipLeft > KneeLeft > AnkleLeft > FootLeft
        """,
        "SpineBase, SpineMid, Neck, Head, HipLeft, KneeLeft, AnkleLeft, FootLeft, -, ShoulderLeft, "
        "ElbowLeft, WristLeft",
    ),
    "Azure Kinect": Rig(
        "Microsoft Azure Kinect body tracking SDK, k4abt_joint_id_t",
        """
        PELVIS > SPINE_NAVEL > SPINE_CHEST > NECK > HEAD > NOSE
        SPINE_CHEST > CLAVICLE_LEFT > SHOULDER_LEFT > ELBOW_LEFT > WRIST_LEFT > HAND_LEFT > HANDTIP_LEFT
        WRIST_LEFT > THUMB_LEFT
        PELVIS > HIP_LEFT > KNEE_LEFT > ANKLE_LEFT > FOOT_LEFT
        HEAD > EYE_LEFT
        """,
        "PELVIS, SPINE_NAVEL, NECK, HEAD, HIP_LEFT, KNEE_LEFT, ANKLE_LEFT, FOOT_LEFT, "
        "CLAVICLE_LEFT, SHOULDER_LEFT, ELBOW_LEFT, WRIST_LEFT",
        (("LEFT", "RIGHT"),),
    ),
    "OpenPose": Rig(
        "CMU OpenPose, BODY_25",
        """
        MidHip > Neck > Nose
        Neck > LShoulder > LElbow > LWrist
        MidHip > LHip > LKnee > LAnkle > LBigToe
        """,
        "MidHip, -, Neck, -, LHip, LKnee, LAnkle, -, -, LShoulder, LElbow, LWrist",
        (("L", "R"),),
    ),
}
