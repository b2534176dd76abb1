import { ApiError, type Output } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { createValOf } from "../archive/create-val.ts"
import { navigate } from "../frame/location.ts"
import { showError } from "../frame/toast-list.ts"
import type { Template, TemplateSource } from "./template.ts"

const limits = { triesMax: 20, nameCharsMax: 48 }

/** Creates a val from a template and opens it. */
export async function openFromTemplate(template: Template): Promise<void> {
  try {
    const val = await createFromTemplate(template)
    navigate(new URL(val.url).pathname)
  } catch (error) {
    showError(error)
  }
}

/** Creates a val from a template. A name that is taken gets a number. */
export async function createFromTemplate(template: Template): Promise<Output<"getVal">> {
  const source = await loadSource(template.key)
  for (let number = 1; number <= limits.triesMax; number += 1) {
    const val = await create(source, toName(source.name, number))
    if (!val) continue
    for (const schedule of source.schedules ?? [])
      await api.putSchedule({ val_id: val.id, ...schedule, timeZone: timeZone() })
    return val
  }
  throw new Error(`Cannot create val "${source.name}": too many of your vals have that name`)
}

function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

function toName(name: string, number: number): string {
  const end = number === 1 ? "" : String(number)
  return name.slice(0, limits.nameCharsMax - end.length) + end
}

async function create({ files, privacy }: TemplateSource, name: string) {
  try {
    return await createValOf({ name, files, privacy })
  } catch (error) {
    if (error instanceof ApiError && error.code === "name_taken") return undefined
    throw error
  }
}

/** The code of a template. All of it is one bundle, which only pages with templates load. */
export async function loadSource(key: string): Promise<TemplateSource> {
  const { sources } = await import("./sources.ts")
  const source = sources[key]
  if (!source) throw new Error(`Cannot find the template "${key}"`)
  return source
}
