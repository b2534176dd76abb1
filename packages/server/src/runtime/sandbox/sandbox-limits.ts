/** What a sandbox may use. */
export interface SandboxLimits {
  /** All memory of a sandbox: heap, buffers, wasm, workers and the files in its scratch folder. */
  readonly memoryBytesMax: number
  /** The JavaScript heap alone: most leaks then end with an error that names the heap. */
  readonly heapBytesMax: number
  /** Threads and processes. An idle sandbox has seven threads. */
  readonly threadsMax: number
  readonly scratchBytesMax: number
  /**
   * Files and folders in the scratch folder. Even an empty one takes kernel memory, which only a
   * memory cgroup counts.
   */
  readonly scratchEntriesMax: number
  readonly openFilesMax: number
  /** The size of one file. */
  readonly fileBytesMax: number
  /**
   * CPU time in the life of a process. The supervisor ends it long before; the kernel enforces this
   * limit when the server was killed.
   */
  readonly cpuSecondsMax: number
  /** From the start of a process until it is warm; it takes about 50 ms. */
  readonly startMsMax: number
  /** One message from the guest. */
  readonly controlLineBytesMax: number
  /** What a guest may send in a second. Beyond that it waits: one thread reads all guests. */
  readonly controlBytesPerSecondMax: number
  readonly controlMessagesPerSecondMax: number
  /** Unread messages to a guest. */
  readonly controlWaitingBytesMax: number
  /** How often the watchdog checks the limits that the kernel does not enforce. */
  readonly watchMs: number
  /** How many sandboxes it checks each time; with more, each is checked less often. */
  readonly watchedMax: number
  /** How long a killed process may take to end before an error is reported. */
  readonly endMsMax: number
}

const mebibyte = 1024 ** 2

/** The defaults. */
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
