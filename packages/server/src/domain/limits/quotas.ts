/** How much a user may use; null where the limit of the server applies. */
export interface Quotas {
  readonly runsPerMinute: number | null
  readonly runsAtOnce: number | null
  readonly egressBytesPerMinute: number | null
  readonly storageRequestsPerMinute: number | null
  readonly blobBytes: number | null
  readonly sqliteBytes: number | null
}

/** The quotas of a user for whom none were set. */
export const noQuotas: Quotas = {
  runsPerMinute: null,
  runsAtOnce: null,
  egressBytesPerMinute: null,
  storageRequestsPerMinute: null,
  blobBytes: null,
  sqliteBytes: null,
}

/** Says at once, without the database, which quotas hold for a user on this node. */
export interface QuotaBook {
  /** Undefined where none were set. */
  find(userId: string): Quotas | undefined
}

/** For a server on which nobody has quotas. */
export const emptyQuotaBook: QuotaBook = { find: () => undefined }

/** The quotas of this node, which are replaced whenever they have changed. */
export function createQuotaBook(): QuotaBook & {
  replace(states: readonly { readonly userId: string; readonly quotas: Quotas | undefined }[]): void
} {
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
