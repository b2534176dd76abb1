/** What a sandbox may take. */
export interface SandboxLimits {
  /**
   * All memory of a sandbox: heap, buffers, wasm, workers and what it wrote to its scratch folder.
   */
  readonly memoryBytesMax: number
  /**
   * The JavaScript heap alone, so that most leaks end with an error that names the heap and not
   * with a kill.
   */
  readonly heapBytesMax: number
  /** Threads and processes; an idle one has seven. */
  readonly threadsMax: number
  readonly scratchBytesMax: number
  /**
   * Files and folders in it. Each takes kernel memory, also an empty one, which only a memory
   * cgroup counts.
   */
  readonly scratchEntriesMax: number
  readonly openFilesMax: number
  /** The size of any one file. */
  readonly fileBytesMax: number
  /**
   * CPU time in the whole life of a process. The supervisor ends it long before; this is for when
   * there is no supervisor any more.
   */
  readonly cpuSecondsMax: number
  /** From the start of a process until it is warm; it takes about 50 ms. */
  readonly startMsMax: number
  /** One message of the guest. */
  readonly controlLineBytesMax: number
  /**
   * What a guest may say in a second; beyond that it has to wait. The host listens to all guests on
   * one thread.
   */
  readonly controlBytesPerSecondMax: number
  readonly controlMessagesPerSecondMax: number
  /** What may wait for a guest that does not read. */
  readonly controlWaitingBytesMax: number
  /** How often the watchdog looks, where the kernel does not enforce a limit by itself. */
  readonly watchMs: number
  /**
   * How many sandboxes it looks at each time; with more than that, each is looked at less often.
   */
  readonly watchedMax: number
  /** How long a killed process may take to be gone before it is reported. */
  readonly endMsMax: number
}

const mebibyte = 1024 ** 2

/** The limits that hold when nothing else is said. */
export const sandboxLimits: SandboxLimits = {
  memoryBytesMax: 256 * mebibyte,
  heapBytesMax: 128 * mebibyte,
  threadsMax: 64,
  scratchBytesMax: 64 * mebibyte,
  scratchEntriesMax: 10_000,
  openFilesMax: 4096,
  fileBytesMax: 64 * mebibyte,
  cpuSecondsMax: 3600,
  startMsMax: 10_000,
  controlLineBytesMax: mebibyte,
  controlBytesPerSecondMax: 16 * mebibyte,
  controlMessagesPerSecondMax: 10_000,
  controlWaitingBytesMax: 16 * mebibyte,
  watchMs: 100,
  watchedMax: 100,
  endMsMax: 10_000,
}
