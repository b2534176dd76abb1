/** The quotas of a user; null where the limit of the server applies. */
export interface Quotas {
  /** Enforced by the allowances. */
  readonly runsPerMinute: number | null
  readonly egressBytesPerMinute: number | null
  readonly storageRequestsPerMinute: number | null
  /** Enforced by the runner when a run asks for a slot. */
  readonly runsAtOnce: number | null
  /** Enforced by the store when a blob is saved. */
  readonly blobBytes: number | null
  /** Enforced by SQLite while a statement runs. */
  readonly sqliteBytes: number | null
  /** Recipients of emails in 24 hours. Enforced by the store when an email is accepted. */
  readonly mailsPerDay: number | null
}

/** The quotas of a user without any. */
export const noQuotas: Quotas = {
  runsPerMinute: null,
  runsAtOnce: null,
  egressBytesPerMinute: null,
  storageRequestsPerMinute: null,
  blobBytes: null,
  sqliteBytes: null,
  mailsPerDay: null,
}

/** The quotas of all users in the memory of this node. */
export interface QuotaBook {
  /** Undefined if none were set. */
  find(userId: string): Quotas | undefined
}

/** A quota book without quotas. */
export const emptyQuotaBook: QuotaBook = { find: () => undefined }

/** A quota book whose content is replaced whenever quotas change. */
export interface ChangingQuotas extends QuotaBook {
  replace(states: readonly { readonly userId: string; readonly quotas: Quotas | undefined }[]): void
}

/** Creates a quota book, which is empty until its content is replaced. */
export function createQuotaBook(): ChangingQuotas {
  let byUser: ReadonlyMap<string, Quotas> = new Map()
  return {
    find: (userId) => byUser.get(userId),
    replace(states) {
      byUser = new Map(
        states.flatMap(({ userId, quotas }) => (quotas ? [[userId, quotas] as const] : [])),
      )
    },
  }
}
