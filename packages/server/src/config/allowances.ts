import { type ReadSetting, readRate } from "./readers.ts"

/** The limits of one user per minute; undefined means no limit. */
export interface AllowanceConfig {
  readonly runsPerMinute: number | undefined
  readonly egressBytesPerMinute: number | undefined
  readonly storageRequestsPerMinute: number | undefined
}

const mega = 1024 ** 2

/** Reads the allowances. */
export function loadAllowanceConfig(read: ReadSetting, isPublic: boolean): AllowanceConfig {
  const rate = (name: Parameters<ReadSetting>[0], standard: number) =>
    readRate(name, read(name), isPublic ? standard : undefined)
  const egressMb = rate("HAMLET_EGRESS_MB_PER_MINUTE", 1_000)
  return {
    runsPerMinute: rate("HAMLET_RUNS_PER_MINUTE", 60_000),
    egressBytesPerMinute: egressMb === undefined ? undefined : egressMb * mega,
    storageRequestsPerMinute: rate("HAMLET_STORAGE_REQUESTS_PER_MINUTE", 60_000),
  }
}
