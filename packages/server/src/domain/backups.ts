import { AppError } from "./app-error.ts"
import type { Clock } from "./clock.ts"

/** What a backup is to be like. */
export interface BackupOptions {
  /** Goes on without the databases of users that cannot be read. */
  readonly skipDamaged: boolean
}

/** Where backups come from. */
export interface BackupSource {
  /** The bytes of a backup. Its point in time is the first read. The signal aborts it. */
  read(options: BackupOptions, signal: AbortSignal): AsyncGenerator<Uint8Array, void>
}

/** When the last complete backup was read, by any node. */
export interface BackupHistory {
  note(at: number): Promise<void>
  /** Undefined for never. */
  readLast(): Promise<number | undefined>
}

/** What a backup may cost. */
const defaults = {
  /**
   * Backups at the same time: each keeps the database from clearing away what is old, and a
   * processor busy.
   */
  atOnceMax: 1,
  /** How long a client may read nothing while data is available. */
  idleMsMax: 60_000,
  /** How long a backup may take as a whole. */
  wholeMsMax: 21_600_000,
}

export type BackupLimits = Readonly<typeof defaults>

/** The backups that are under way. */
export class Backups {
  readonly #source: BackupSource
  readonly #history: BackupHistory
  readonly #clock: Pick<Clock, "now">
  readonly #limits: BackupLimits
  readonly #running = new Set<RunningBackup>()
  #isStopped = false

  constructor(
    source: BackupSource,
    history: BackupHistory,
    clock: Pick<Clock, "now">,
    limits: Partial<BackupLimits> = {},
  ) {
    this.#source = source
    this.#history = history
    this.#clock = clock
    this.#limits = { ...defaults, ...limits }
  }

  /**
   * A backup of this moment, of which the beginning is there already: what makes one impossible is
   * told before it begins.
   */
  async open(options: BackupOptions = { skipDamaged: false }): Promise<RunningBackup> {
    if (this.#isStopped)
      throw new AppError("database_unavailable", "Cannot back up: the server is about to end")
    const { atOnceMax } = this.#limits
    if (this.#running.size >= atOnceMax)
      throw new AppError(
        "backup_running",
        `Cannot back up now: there may be ${atOnceMax} at a time, and so many are under way`,
      )
    const backup: RunningBackup = new RunningBackup(this.#source, options, this.#limits, {
      onComplete: () => this.#history.note(this.#clock.now()),
      onEnd: () => this.#running.delete(backup),
    })
    this.#running.add(backup)
    await backup.begin()
    return backup
  }

  /** How old the last complete backup is; undefined for none, and while the database is away. */
  async readAgeMs(): Promise<number | undefined> {
    const at = await this.#history.readLast().catch(() => undefined)
    return at === undefined ? undefined : Math.max(0, this.#clock.now() - at)
  }

  /** Aborts the running backup. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#running].map((backup) => backup.stop("the server is about to end")))
  }
}

interface BackupEvents {
  /** Its last byte was read. */
  onComplete(): Promise<void>
  onEnd(): void
}

/** A running backup. The client reads at its own speed, within limits. */
export class RunningBackup {
  readonly #pieces: AsyncGenerator<Uint8Array, void>
  readonly #leaving = new AbortController()
  readonly #idleMsMax: number
  readonly #events: BackupEvents
  readonly #whole: Timer
  #first: IteratorResult<Uint8Array, void> | undefined
  #idle: Timer | undefined
  #problem: string | undefined

  constructor(
    source: BackupSource,
    options: BackupOptions,
    { idleMsMax, wholeMsMax }: BackupLimits,
    events: BackupEvents,
  ) {
    this.#pieces = source.read(options, this.#leaving.signal)
    this.#idleMsMax = idleMsMax
    this.#events = events
    this.#whole = setTimeout(
      () => void this.stop(`it takes longer than ${wholeMsMax / 1000} s`),
      wholeMsMax,
    )
  }

  async begin(): Promise<void> {
    this.#first = await this.#next()
    this.#waitForTaker()
  }

  /**
   * The next bytes, or undefined when there are no more. Throws when the backup was cut off: what
   * came so far then has no end.
   */
  async read(): Promise<Uint8Array | undefined> {
    clearTimeout(this.#idle)
    const { done, value } = this.#first ?? (await this.#next())
    this.#first = undefined
    if (this.#problem !== undefined)
      throw new Error(`Cannot go on with the backup: ${this.#problem}`)
    if (!done) {
      this.#waitForTaker()
      return value
    }
    await this.stop("it has ended")
    await this.#events.onComplete()
    return undefined
  }

  /** Lets go of the database, whether all of it was taken or not. */
  async stop(problem = "the client has disconnected"): Promise<void> {
    this.#problem ??= problem
    this.#leaving.abort()
    clearTimeout(this.#idle)
    clearTimeout(this.#whole)
    await this.#pieces.return()
    this.#events.onEnd()
  }

  async #next(): Promise<IteratorResult<Uint8Array, void>> {
    try {
      return await this.#pieces.next()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  #waitForTaker(): void {
    this.#idle = setTimeout(
      () => void this.stop(`nobody has taken any of it for ${this.#idleMsMax / 1000} s`),
      this.#idleMsMax,
    )
  }
}
