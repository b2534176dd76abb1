import { readMachineMemory } from "./machine-memory.ts"
import { integer, type ReadSetting, rate, readTable } from "./setting.ts"

const mega = 1024 ** 2
/** The memory of a process with a small val, generously estimated. */
const processBytes = 64 * mega
/** The memory of a process in the pool, and the share of the memory that the whole pool may use. */
const readyBytes = 16 * mega
const readyShare = 0.05
/** The default share of one account of all processes. */
const accountShare = 0.75

/** Each run, and the process that it has. */
export const runSettings = {
  runMsMax: integer({
    env: "HAMLET_RUN_SECONDS_MAX",
    default: 60,
    max: 86_400,
    unit: 1000,
    meaning: "Time limit until a val starts its response or a call returns.",
  }),
  streamMsMax: integer({
    env: "HAMLET_STREAM_SECONDS_MAX",
    default: 3600,
    max: 604_800,
    unit: 1000,
    meaning: "Time limit of the rest of a response, and of a WebSocket.",
  }),
  valMemoryBytesMax: integer({
    env: "HAMLET_VAL_MEMORY_MB",
    default: 256,
    min: 64,
    max: 1_000_000,
    unit: mega,
    meaning: "Memory of a val's process, including its scratch folder.",
  }),
  valScratchBytesMax: integer({
    env: "HAMLET_VAL_SCRATCH_MB",
    default: 32,
    max: 1_000_000,
    unit: mega,
    meaning: "Size of the folder `/tmp` of a val's process, which is in memory.",
  }),
  valCpuMsMax: integer({
    env: "HAMLET_VAL_CPU_SECONDS_MAX",
    default: 30,
    max: 86_400,
    unit: 1000,
    meaning: "CPU time that a val's process may use without a pause while none of its runs ends.",
  }),
  valBodyBytesMax: integer({
    env: "HAMLET_VAL_BODY_BYTES_MAX",
    default: 1_073_741_824,
    max: Number.MAX_SAFE_INTEGER,
    meaning: "Largest body of a request to a val's web address, in bytes.",
  }),
  perValMax: integer({
    env: "HAMLET_RUNS_PER_VAL_MAX",
    default: 256,
    max: 1_000_000,
    meaning: "Concurrent runs of one val; further runs wait.",
  }),
  perAccountMax: integer({
    env: "HAMLET_RUNS_PER_ACCOUNT_MAX",
    default: 1024,
    max: 1_000_000,
    meaning: "Concurrent runs on one account; further runs wait.",
  }),
  processesReady: integer({
    env: "HAMLET_PROCESSES_READY",
    default: 4,
    min: 0,
    max: 10_000,
    meaning: "Started processes in the pool, ready for vals.",
  }),
  processesReadyMax: integer({
    env: "HAMLET_PROCESSES_READY_MAX",
    default: "one for each 16 MB of a twentieth of the memory, at least 4",
    min: 0,
    max: 10_000,
    meaning:
      "The largest size of the pool. It grows when many processes were needed at once: for five minutes, at the same minute of the next three hours and seven days, and before schedules are due. One account has at most three quarters of it.",
  }),
  processWaitMsMax: integer({
    env: "HAMLET_PROCESS_WAIT_SECONDS_MAX",
    default: 10,
    max: 600,
    unit: 1000,
    meaning:
      "Time that a process may take to start, and that a run waits for one. A slow machine needs more.",
  }),
  processesMax: integer({
    env: "HAMLET_PROCESSES_MAX",
    default: "one for each 64 MB of half the memory",
    max: 100_000,
    meaning:
      "All processes, in the pool or with a val. At the limit, the process that was idle longest ends.",
  }),
  processesPerAccountMax: integer({
    env: "HAMLET_PROCESSES_PER_ACCOUNT_MAX",
    default: "three quarters of all",
    max: 100_000,
    meaning:
      "Busy processes of one account. When several accounts compete, each gets fewer: the last ones are reserved for accounts that have none. Runs beyond the share wait, then get 429.",
  }),
  processesMemoryBytesMax: integer({
    env: "HAMLET_PROCESSES_MEMORY_MB",
    default: "half the memory",
    min: 64,
    max: 1_000_000_000,
    unit: mega,
    meaning:
      "Memory of all these processes together, at most that of the machine or of the server's control group. When it is used up, idle processes end, then those of the account that uses the most.",
  }),
  idleMsMax: integer({
    env: "HAMLET_IDLE_SECONDS",
    default: 65,
    max: 604_800,
    unit: 1000,
    meaning:
      "Time after which an idle process ends. A val that runs every minute keeps its process if this is a few seconds more than a minute.",
  }),
  processMsMax: integer({
    env: "HAMLET_PROCESS_SECONDS_MAX",
    default: 3600,
    max: 31_536_000,
    unit: 1000,
    meaning: "Time after which a val gets a new process, even while it is busy.",
  }),
  queueRunsMax: integer({
    env: "HAMLET_QUEUE_RUNS_MAX",
    default: 256,
    max: 100_000,
    meaning:
      "Runs of the queue that a node has at once: runs that no caller waits for. One account has at most a quarter of them; further runs wait.",
  }),
  queuedPerAccountMax: integer({
    env: "HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX",
    default: 10_000,
    max: 1_000_000_000,
    meaning: "Runs of one account that wait in the queue; further ones are refused.",
  }),
  keptDays: integer({
    env: "HAMLET_RUNS_KEPT_DAYS",
    default: 30,
    max: 36_500,
    meaning: "Days for which runs are stored.",
  }),
  keptPerVal: integer({
    env: "HAMLET_RUNS_KEPT_PER_VAL",
    default: 10_000,
    max: 1_000_000_000,
    meaning: "Number of the latest runs that are stored per val.",
  }),
  keptBytesPerAccount: integer({
    env: "HAMLET_RUNS_KEPT_MB",
    default: 512,
    max: 1_000_000_000,
    unit: mega,
    meaning:
      "Megabytes of the latest runs that are stored per account, with logs, arguments and return values.",
  }),
  responseBytesKept: integer({
    env: "HAMLET_RESPONSE_BYTES_KEPT",
    default: 16_384,
    min: 0,
    max: 1_048_576,
    meaning:
      "Bytes that a run keeps of the body of a val's response, if it is text; its owner can read them. `0` keeps neither bodies nor headers.",
  }),
}

export const scheduleSettings = {
  perUserMax: integer({
    env: "HAMLET_SCHEDULES_PER_USER_MAX",
    default: 100,
    min: 0,
    max: 1_000_000,
    meaning: "Schedules of one user that are not paused; `0` for none.",
  }),
  secondsMin: integer({
    env: "HAMLET_SCHEDULE_SECONDS_MIN",
    default: 1,
    max: 86_400,
    meaning: "The least number of seconds between two due times of a schedule.",
  }),
}

/** The allowances of one user. */
export const allowanceSettings = {
  runsPerMinute: rate({
    env: "HAMLET_RUNS_PER_MINUTE",
    default: 60_000,
    ifPublic: true,
    meaning: "Runs per minute and account, or `none`.",
  }),
  egressBytesPerMinute: rate({
    env: "HAMLET_EGRESS_MB_PER_MINUTE",
    default: 1_000,
    ifPublic: true,
    unit: mega,
    meaning: "Megabytes per minute that the vals of one user send and receive, or `none`.",
  }),
  storageRequestsPerMinute: rate({
    env: "HAMLET_STORAGE_REQUESTS_PER_MINUTE",
    default: 60_000,
    ifPublic: true,
    meaning: "Requests per minute of one user to their blobs and database, or `none`.",
  }),
}

export function loadRunConfig(read: ReadSetting) {
  const settings = readTable(runSettings, read)
  const machineMb = Math.floor(readMachineMemory() / mega)
  const readyMax = Math.max(4, Math.floor((machineMb * mega * readyShare) / readyBytes))
  const memoryBytes = settings.processesMemoryBytesMax ?? Math.floor(machineMb / 2) * mega
  // A setting above the memory of the machine is lowered, so that a server still starts after a
  // move to a smaller machine.
  const processesMemoryBytesMax = Math.max(64 * mega, Math.min(memoryBytes, machineMb * mega))
  const processesMax =
    settings.processesMax ?? Math.max(8, Math.floor(processesMemoryBytesMax / processBytes))
  return {
    ...settings,
    processesReady: Math.min(settings.processesReady, processesMax),
    processesReadyMax: Math.min(settings.processesReadyMax ?? readyMax, processesMax),
    processesMax,
    processesPerAccountMax:
      settings.processesPerAccountMax ?? Math.max(1, Math.floor(processesMax * accountShare)),
    processesMemoryBytesMax,
  }
}
