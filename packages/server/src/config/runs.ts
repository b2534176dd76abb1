import { readMachineMemory } from "./machine-memory.ts"
import type { Env } from "./options.ts"
import { type ReadSetting, readInteger } from "./readers.ts"

/** The limits of runs and their retention. */
export interface RunConfig {
  readonly runMsMax: number
  readonly streamMsMax: number
  readonly valMemoryBytesMax: number
  readonly valScratchBytesMax: number
  readonly valCpuMsMax: number
  readonly valBodyBytesMax: number
  readonly perValMax: number
  readonly perAccountMax: number
  readonly processesReady: number
  readonly processesReadyMax: number
  readonly processesMax: number
  readonly processesPerAccountMax: number
  readonly processesMemoryBytesMax: number
  readonly idleMsMax: number
  readonly processMsMax: number
  /** Runs of the queue that this node has at once. */
  readonly queueRunsMax: number
  readonly queuedPerAccountMax: number
  readonly keptDays: number
  readonly keptPerVal: number
  readonly keptBytesPerAccount: number
  /** Of the body of a response; 0 keeps no responses. */
  readonly responseBytesKept: number
}

const mega = 1024 ** 2
/** The memory of a process with a small val, generously estimated. */
const processBytes = 64 * mega
/** The default share of one account of all processes. */
const accountShare = 0.75

/** Reads the settings of runs. */
export function loadRunConfig(read: ReadSetting): RunConfig {
  const integer = (name: Env, standard: number, max: number, min = 1) =>
    readInteger(name, read(name), min, max) ?? standard
  const machineMb = Math.floor(readMachineMemory() / mega)
  const memoryMb = integer(
    "HAMLET_PROCESSES_MEMORY_MB",
    Math.max(64, Math.floor(machineMb / 2)),
    1_000_000_000,
    64,
  )
  // A setting above the memory of the machine is lowered, so that a server still starts after a
  // move to a smaller machine.
  const processesMemoryBytesMax = Math.max(64, Math.min(memoryMb, machineMb)) * mega
  const processesMax = integer(
    "HAMLET_PROCESSES_MAX",
    Math.max(8, Math.floor(processesMemoryBytesMax / processBytes)),
    100_000,
  )
  return {
    runMsMax: integer("HAMLET_RUN_SECONDS_MAX", 60, 86_400) * 1000,
    streamMsMax: integer("HAMLET_STREAM_SECONDS_MAX", 3600, 604_800) * 1000,
    valMemoryBytesMax: integer("HAMLET_VAL_MEMORY_MB", 256, 1_000_000, 64) * mega,
    valScratchBytesMax: integer("HAMLET_VAL_SCRATCH_MB", 32, 1_000_000) * mega,
    valCpuMsMax: integer("HAMLET_VAL_CPU_SECONDS_MAX", 30, 86_400) * 1000,
    valBodyBytesMax: integer("HAMLET_VAL_BODY_BYTES_MAX", 1_073_741_824, Number.MAX_SAFE_INTEGER),
    perValMax: integer("HAMLET_RUNS_PER_VAL_MAX", 256, 1_000_000),
    perAccountMax: integer("HAMLET_RUNS_PER_ACCOUNT_MAX", 1024, 1_000_000),
    processesReady: Math.min(integer("HAMLET_PROCESSES_READY", 4, 10_000, 0), processesMax),
    processesReadyMax: Math.min(integer("HAMLET_PROCESSES_READY_MAX", 64, 10_000, 0), processesMax),
    processesMax,
    processesPerAccountMax: integer(
      "HAMLET_PROCESSES_PER_ACCOUNT_MAX",
      Math.max(1, Math.floor(processesMax * accountShare)),
      100_000,
    ),
    processesMemoryBytesMax,
    idleMsMax: integer("HAMLET_IDLE_SECONDS", 300, 604_800) * 1000,
    processMsMax: integer("HAMLET_PROCESS_SECONDS_MAX", 3600, 31_536_000) * 1000,
    queueRunsMax: integer("HAMLET_QUEUE_RUNS_MAX", 256, 100_000),
    queuedPerAccountMax: integer("HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX", 10_000, 1_000_000_000),
    keptDays: integer("HAMLET_RUNS_KEPT_DAYS", 30, 36_500),
    keptPerVal: integer("HAMLET_RUNS_KEPT_PER_VAL", 10_000, 1_000_000_000),
    keptBytesPerAccount: integer("HAMLET_RUNS_KEPT_MB", 512, 1_000_000_000) * mega,
    responseBytesKept: integer("HAMLET_RESPONSE_BYTES_KEPT", 16_384, 1_048_576, 0),
  }
}
