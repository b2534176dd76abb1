import { ApiError } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { showError } from "../frame/toast-list.ts"

interface NewVal {
  readonly name: string
  readonly code: string
  readonly type: "http" | "script" | "interval" | "email"
  readonly readme?: string | null
  /** Private by default. */
  readonly privacy?: "private" | "unlisted"
  /** The schedule of an interval val. */
  readonly every?: string
}

const limits = { triesMax: 20, nameCharsMax: 48 }

/** Creates a val from an example and opens it. A name that is taken gets a number. */
export async function createFromExample(example: NewVal): Promise<void> {
  try {
    for (let number = 1; number <= limits.triesMax; number += 1) {
      const val = await create(example, toName(example.name, number))
      if (val) {
        if (example.every !== undefined)
          await api.putSchedule({ val_id: val.id, every: example.every })
        navigate(new URL(val.url).pathname)
        return
      }
    }
    throw new Error(`Cannot create val "${example.name}": too many of your vals have that name`)
  } catch (error) {
    showError(error)
  }
}

function toName(name: string, number: number): string {
  const end = number === 1 ? "" : String(number)
  return name.slice(0, limits.nameCharsMax - end.length) + end
}

async function create({ code, type, readme = null, privacy = "private" }: NewVal, name: string) {
  try {
    return await api.createVal({ name, code, type, readme, privacy })
  } catch (error) {
    if (error instanceof ApiError && error.code === "name_taken") return undefined
    throw error
  }
}
