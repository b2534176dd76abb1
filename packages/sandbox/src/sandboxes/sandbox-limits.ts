const mebibyte = 1024 ** 2

/** What a sandbox may use: the defaults. */
export const sandboxLimits = {
  /** All memory of a sandbox: heap, buffers, wasm, workers and the files in its scratch folder. */
  memoryBytesMax: 256 * mebibyte,
  /** The JavaScript heap alone: most leaks then end with an error that names the heap. */
  heapBytesMax: 128 * mebibyte,
  /** Threads and processes. An idle sandbox has seven threads. */
  threadsMax: 64,
  scratchBytesMax: 64 * mebibyte,
  /**
   * Files and folders in the scratch folder. Even an empty one takes kernel memory, which only a
   * memory cgroup counts.
   */
  scratchEntriesMax: 10_000,
  openFilesMax: 4096,
  /** The size of one file. */
  fileBytesMax: 64 * mebibyte,
  /**
   * CPU time in the life of a process. The supervisor ends it long before; the kernel enforces this
   * limit when the server was killed.
   */
  cpuSecondsMax: 3600,
  /** From the start of a process until it is warm; it takes about 50 ms. */
  startMsMax: 10_000,
  /** From the start of the server until it compiles for its sandboxes: first it serves requests. */
  compileDelayMs: 2_000,
  /** One message from the guest. */
  controlLineBytesMax: mebibyte,
  /** What a guest may send in a second. Beyond that it waits: one thread reads all guests. */
  controlBytesPerSecondMax: 16 * mebibyte,
  controlMessagesPerSecondMax: 10_000,
  /** What is read of the file with the messages that a guest could not send. */
  controlUnsentBytesMax: 4 * mebibyte,
  /** Unread messages to a guest. */
  controlWaitingBytesMax: 16 * mebibyte,
  /** How often the watchdog checks the limits that the kernel does not enforce. */
  watchMs: 100,
  /** How many sandboxes it checks each time; with more, each is checked less often. */
  watchedMax: 100,
  /** How long a killed process may take to end before an error is reported. */
  endMsMax: 10_000,
}

export type SandboxLimits = Readonly<typeof sandboxLimits>
