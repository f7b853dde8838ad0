// What is played: the clip, the time within it, how often it has gone round, and how fast.

class Player {
  constructor(content) {
    this.content = content;
    this.times = content.clips.map(frameTimes);
    this.speed = 1;
    this.playing = false;
    this.rested = 0; // seconds, where only textures move
    this.choose(0);
  }

  get clip() {
    return this.content.clips[this.number];
  }

  /** Show the start of a clip, by number. */
  choose(number) {
    this.number = number;
    this.laps = 0;
    this.time = 0;
  }

  /** Show a time, seconds from the first start; after the clip's end it goes round. */
  seek(seconds) {
    const { duration } = this.clip;
    if (duration === 0) {
      this.rested = Math.max(seconds, 0);
      return;
    }
    this.laps = Math.max(Math.ceil(seconds / duration) - 1, 0);
    this.time = clamp(seconds - this.laps * duration, 0, duration);
  }

  advance(seconds) {
    this.seek(this.seconds + seconds * this.speed);
  }

  /** Seconds since the first start: floors and textures move on where the clip begins anew. */
  get seconds() {
    const { duration } = this.clip;
    return duration > 0 ? this.laps * duration + this.time : this.rested;
  }

  /** Where the time stands among the frames of the clip. */
  get place() {
    return placeOf(this.times[this.number], this.time, this.clip.stored?.step);
  }

  /** Go to a frame before or after. */
  step(frames) {
    const times = this.times[this.number];
    const { first, share } = this.place;
    const whole = share > 0 && frames < 0 ? first + 1 : first;
    this.time = times[(whole + frames + times.length) % times.length];
  }

  /** Places of all joints, 3 * J numbers, scene space; of the rest pose where frames are stored. */
  jointPositions() {
    const { positions } = this.content.joints;
    const { first, second, share } = this.clip.stored ? { first: 0, second: 0, share: 0 } : this.place;
    const row = this.clip.row;
    return blendedRow(positions.data, 3 * positions.shape[1], row + first, row + second, share);
  }
}
