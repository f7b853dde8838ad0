// What plays: the clip, the time within it, the number of its repetitions, and the speed.

class Player {
  constructor(content) {
    this.content = content;
    this.times = content.clips.map(frameTimes);
    this.speed = 1;
    this.playing = false;
    this.idleSeconds = 0; // of a page without a clip, where only textures move
    this.choose(0);
  }

  get clip() {
    return this.content.clips[this.number];
  }

  /** Go to the start of a clip, given by its number. */
  choose(number) {
    this.number = number;
    this.laps = 0;
    this.time = 0;
  }

  /** Go to a time in seconds since the first start; after its end the clip repeats. */
  seek(seconds) {
    const { duration } = this.clip;
    if (duration === 0) {
      this.idleSeconds = Math.max(seconds, 0);
      return;
    }
    this.laps = Math.max(Math.ceil(seconds / duration) - 1, 0);
    this.time = clamp(seconds - this.laps * duration, 0, duration);
  }

  advance(seconds) {
    this.seek(this.seconds + seconds * this.speed);
  }

  /** Seconds since the first start: floors and textures move on when the clip repeats. */
  get seconds() {
    const { duration } = this.clip;
    return duration > 0 ? this.laps * duration + this.time : this.idleSeconds;
  }

  /** The frames before and after the time, and how far it is between them. */
  get span() {
    return spanOf(this.times[this.number], this.time, this.clip.stored?.step);
  }

  /** Move by a number of frames. */
  step(frames) {
    const times = this.times[this.number];
    const { first, blend } = this.span;
    const whole = blend > 0 && frames < 0 ? first + 1 : first;
    this.time = times[(whole + frames + times.length) % times.length];
  }

  /** Positions of all joints in scene space, 3 * J numbers; of the rest pose for stored frames. */
  jointPositions() {
    const { positions } = this.content.joints;
    const { first, second, blend } = this.clip.stored ? { first: 0, second: 0, blend: 0 } : this.span;
    const row = this.clip.row;
    return blendedRow(positions.data, 3 * positions.shape[1], row + first, row + second, blend);
  }
}
