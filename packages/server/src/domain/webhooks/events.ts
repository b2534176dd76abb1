import type { EventType, messageType, webhookVal } from "@hamlet/contract"
import type { z } from "zod"
import type { Stored } from "../records/stored.ts"

export type { EventType }

/** The type of a message: that of an event, or a test. */
export type MessageType = z.infer<typeof messageType>

/** Something that happened to a val, for the webhooks of its owner. */
export interface NewEvent {
  readonly type: EventType
  readonly ownerId: string
  readonly valId: string
  /** An event with the same key is sent to a webhook once, however often it is emitted. */
  readonly key: string
  /** When it happened; by default now, by the clock of the database. */
  readonly at?: number
  /** The number of vals that called each other before it happened. */
  readonly depth?: number
  /** What the message says besides the val. Only what the owner may see. */
  readonly data?: EventData
}

/** Objects with an id get links when the message is sent. */
export interface EventData {
  readonly run?: { readonly id: string } & Readonly<Record<string, unknown>>
  readonly reference?: EventVal
  readonly [name: string]: unknown
}

/** A val as a message shows it. */
export type EventVal = Stored<typeof webhookVal>

/** The content of a message as it is stored. */
export interface Message {
  readonly type: MessageType
  readonly at: number
  readonly data: StoredData
}

/** The data of an event, with its val as it was when the event happened. */
export interface StoredData extends EventData {
  readonly val?: EventVal
}

/** The addresses in messages. */
export interface MessageLinks {
  readonly baseUrl: string
  run(id: string): string
  val(id: string): string
  valPage(username: string, name: string): string
}

/** What a receiver gets. */
export interface EventPayload {
  readonly type: MessageType
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Builds the payload. It is the same for every attempt, unless the server has moved. */
export function toEventPayload({ type, at, data }: Message, links: MessageLinks): EventPayload {
  const { val, run, reference, ...rest } = data
  const linkVal = (linked: EventVal) => ({
    ...linked,
    links: { self: links.val(linked.id), page: links.valPage(linked.username, linked.name) },
  })
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: {
      ...rest,
      ...(run && { run: { ...run, links: { self: links.run(run.id) } } }),
      ...(reference && { reference: linkVal(reference) }),
      // A deleted val has no address.
      ...(val && { val: type === "val.deleted" ? val : linkVal(val) }),
    },
  }
}
