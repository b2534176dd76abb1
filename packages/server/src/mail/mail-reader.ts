import { AppError } from "../domain/app-error.ts"
import {
  type MailConnection,
  type MailReader,
  MailRefused,
  type ReadMail,
} from "../domain/mail/mail.ts"
import { WorkerPool, WorkerPoolError } from "../shared/threads/worker-pool.ts"
import type { MailJob, MailJobResult } from "./thread/mail-job.ts"

const limits = {
  workersMax: 4,
  /** Most of the time a message waits for name servers, which its sender may slow down. */
  messagesPerWorkerMax: 16,
  /** Messages that wait for a thread. */
  waitingMax: 128,
  /** Name servers get 12 seconds of it. */
  readMsMax: 40_000,
}

/** What the threads need to know. */
export type ReaderOptions = Pick<MailJob, "serverName" | "nameServers">

/** Reads messages on threads. Senders take turns. */
export class ThreadMailReader implements MailReader {
  readonly #options: ReaderOptions
  readonly #pool = new WorkerPool<MailJob, MailJobResult>({
    script: new URL("./thread/mail-thread.ts", import.meta.url),
    workersMax: limits.workersMax,
    waitingMax: limits.waitingMax,
    jobMsMax: limits.readMsMax,
    jobsPerWorkerMax: limits.messagesPerWorkerMax,
  })

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  async read(
    raw: Uint8Array<ArrayBuffer>,
    connection: MailConnection | undefined,
  ): Promise<ReadMail> {
    const job = { raw, connection, ...this.#options }
    const result = await this.#run(connection?.address ?? "", job)
    if ("problem" in result) throw new MailRefused("invalid_message", result.problem)
    return result.mail
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }

  async #run(key: string, job: MailJob): Promise<MailJobResult> {
    try {
      return await this.#pool.run(key, job, [job.raw.buffer as ArrayBuffer])
    } catch (error) {
      if (!(error instanceof WorkerPoolError)) throw error
      if (error.reason === "timed_out")
        throw new MailRefused("invalid_message", "the message takes too long to read")
      throw new AppError("overloaded", `Cannot read the message now: ${error.message}`, {
        cause: error,
      })
    }
  }
}
