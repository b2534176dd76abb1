import type { Output } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Field } from "../parts/forms/field.tsx"

/** The quotas of a user. */
export type Quotas = Output<"getUserQuotas">

/** The text of each field; empty where the limit of the server applies. */
export type QuotaTexts = Readonly<Record<keyof Quotas, Signal<string>>>

/** A megabyte as the app shows it. */
const mega = 1_000_000

const fields = {
  runsPerMinute: { label: "Runs per minute", unit: 1 },
  runsAtOnce: { label: "Runs at once", unit: 1 },
  blobBytes: { label: "Blobs, in MB", unit: mega },
  sqliteBytes: { label: "Database, in MB", unit: mega },
  egressBytesPerMinute: { label: "Outgoing traffic per minute, in MB", unit: mega },
  storageRequestsPerMinute: { label: "Storage requests per minute", unit: 1 },
  mailsPerDay: { label: "Emails in 24 hours", unit: 1 },
} as const satisfies Record<keyof Quotas, { readonly label: string; readonly unit: number }>

const names = Object.keys(fields) as (keyof Quotas)[]

/** The fields with the quotas that a user has. */
export function useQuotaTexts(quotas?: Quotas): QuotaTexts {
  const toText = (name: keyof Quotas) => {
    const quota = quotas?.[name] ?? null
    return quota === null ? "" : String(quota / fields[name].unit)
  }
  // The names never change, so that the hooks are called in the same order.
  const entries = names.map((name) => [name, useSignal(toText(name))] as const)
  return Object.fromEntries(entries) as QuotaTexts
}

/** The quotas that the fields say. */
export function toQuotas(texts: QuotaTexts): Quotas {
  const entries = names.map((name) => {
    const text = texts[name].value.trim()
    return [name, text === "" ? null : Math.round(Number(text) * fields[name].unit)] as const
  })
  return Object.fromEntries(entries) as unknown as Quotas
}

/** A field for each quota. */
export function QuotaFields({ texts }: { texts: QuotaTexts }) {
  return (
    <div class="quota-fields">
      {names.map((name) => (
        <Field key={name} label={fields[name].label}>
          <input
            class="input"
            type="number"
            min={0}
            step={fields[name].unit === 1 ? 1 : "any"}
            placeholder="the server's limit"
            {...bindText(texts[name])}
          />
        </Field>
      ))}
    </div>
  )
}
