import type { Work } from "@hamlet/kit"
import type { LogGap, LogLine, RecordedClaim, RunInput, RunRecord, RunRequest } from "./runs.ts"

/** A run that is about to start. */
export interface NewRun
  extends Pick<
    RunRecord,
    | "id"
    | "valId"
    | "file"
    | "version"
    | "accountId"
    | "ownerId"
    | "parentId"
    | "source"
    | "startedAt"
    | "args"
  > {
  /** The number of vals that called each other before this run. */
  readonly depth: number
  readonly request: Pick<RunRequest, "method" | "url"> | null
  /** The request, for a replay; null when it was too large to record. */
  readonly input: RunInput | null
  /** The request that the run is a part of, if there is one. */
  readonly work?: Work | undefined
}

/** A run of the queue that this node has claimed. */
export interface AdoptedRun extends NewRun, Omit<RunClaim, "retryMs"> {
  /** What earlier attempts have logged. */
  readonly logs: readonly LogLine[]
  readonly logsTruncated: boolean
  readonly logGap: LogGap | null
}

/** The claim of a node to a run of the queue. */
export interface RunClaim extends RecordedClaim {
  /** 1 for the first attempt. */
  readonly attempt: number
  readonly retries: number
  /** The delay before the next attempt. */
  delayOf(attempt: number): number
  /** Resolves when it is on disk that the code starts. Rejects when the claim is lost. */
  noteBegin(): Promise<void>
}
