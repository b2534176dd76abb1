import type { GatewayLimits } from "../limits.ts"

type BacklogLimits = Pick<
  GatewayLimits,
  "backlogBytesMax" | "backlogBytesPerAccountMax" | "backlogBytesTotalMax"
>

/** A WebSocket whose other end has not read all that was sent to it. */
export interface BacklogHolder {
  readonly accountId: string
  /** Ends the WebSocket and frees its unread bytes. */
  cut(): void
}

/** The unread bytes of an account. */
interface AccountBacklog {
  bytes: number
  readonly holders: Map<BacklogHolder, number>
}

/**
 * Limits the unread bytes of WebSockets: of one, of those of an account, and of all. The largest of
 * the account that holds too much is cut, so that readers that are slow cost no other account theirs.
 */
export class Backlogs {
  readonly #limits: BacklogLimits
  readonly #accounts = new Map<string, AccountBacklog>()
  #bytes = 0

  constructor(limits: BacklogLimits) {
    this.#limits = limits
  }

  /** Sets the unread bytes of a WebSocket. Cuts what is too much. */
  set(holder: BacklogHolder, bytes: number): void {
    const { accountId } = holder
    const account = this.#accounts.get(accountId) ?? { bytes: 0, holders: new Map() }
    const more = bytes - (account.holders.get(holder) ?? 0)
    if (more === 0) return
    this.#bytes += more
    account.bytes += more
    if (bytes === 0) account.holders.delete(holder)
    else account.holders.set(holder, bytes)
    if (account.holders.size === 0) this.#accounts.delete(accountId)
    else this.#accounts.set(accountId, account)
    if (more > 0) this.#enforce(holder, bytes, account)
  }

  #enforce(holder: BacklogHolder, bytes: number, account: AccountBacklog): void {
    const { backlogBytesMax, backlogBytesPerAccountMax, backlogBytesTotalMax } = this.#limits
    if (bytes > backlogBytesMax) this.#cut(holder)
    while (account.bytes > backlogBytesPerAccountMax) this.#cut(findLargest(account.holders))
    while (this.#bytes > backlogBytesTotalMax) this.#cut(this.#findLargestOfAll())
  }

  #cut(holder: BacklogHolder | undefined): void {
    if (!holder) return
    this.set(holder, 0)
    holder.cut()
  }

  #findLargestOfAll(): BacklogHolder | undefined {
    let largest: AccountBacklog | undefined
    for (const account of this.#accounts.values())
      if (largest === undefined || account.bytes > largest.bytes) largest = account
    return largest && findLargest(largest.holders)
  }
}

function findLargest(holders: ReadonlyMap<BacklogHolder, number>): BacklogHolder | undefined {
  let largest: BacklogHolder | undefined
  let bytesMax = 0
  for (const [holder, bytes] of holders)
    if (bytes > bytesMax) {
      largest = holder
      bytesMax = bytes
    }
  return largest
}
