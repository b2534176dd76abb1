/** What reading people's code may cost. */
export interface CodeToolsLimits {
  /**
   * How many parser processes may exist at once. Two, so that code which takes all its time leaves
   * one for everybody else.
   */
  readonly processesMax: number
  /**
   * How long a parser may take over one piece of code before it is killed. Ordinary code takes a
   * few milliseconds.
   */
  readonly parseMsMax: number
  /** How long a parser process may take to start; it takes about 10 ms. */
  readonly startMsMax: number
  /** How long a parser process is kept without work. */
  readonly idleMsMax: number
  /**
   * How much memory a parser may take before it is killed, where /proc tells (Linux). Ordinary code
   * takes less than 100 MB.
   */
  readonly memoryBytesMax: number
  /** How often the memory of a busy parser is looked at. */
  readonly memoryCheckMs: number
  /**
   * How much processor time a parser process gets in its life, in whole seconds. The server
   * replaces it when it has worked for half of that; the system ends it at the whole, which is for
   * one that is left behind at work when the server is killed.
   */
  readonly lifeSecondsMax: number
  /** How many pieces of code may wait for a parser. */
  readonly waitingMax: number
  /** How many of them may be of one owner. */
  readonly waitingPerOwnerMax: number
  /** How long the pieces that wait may be together, which is what they take in memory. */
  readonly waitingCharsMax: number
  /** How long a piece of code waits for its turn. */
  readonly waitMsMax: number
  /**
   * How many pieces of code are read together, and how long they may be together: no more than one
   * piece may be alone.
   */
  readonly togetherMax: number
  readonly togetherCharsMax: number
  /**
   * How much JavaScript made from vals is kept in memory, so that a popular module is made once.
   */
  readonly cachedBytesMax: number
}

/** The limits that hold when nothing else is said. */
export const codeToolsLimits: CodeToolsLimits = {
  processesMax: 2,
  parseMsMax: 1_000,
  startMsMax: 10_000,
  idleMsMax: 30_000,
  memoryBytesMax: 268_435_456,
  memoryCheckMs: 25,
  lifeSecondsMax: 20,
  waitingMax: 2_000,
  waitingPerOwnerMax: 500,
  waitingCharsMax: 67_108_864,
  waitMsMax: 10_000,
  togetherMax: 250,
  togetherCharsMax: 256_000,
  cachedBytesMax: 16_777_216,
}
