import { ApiError } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { sayFailed } from "../frame/toast-list.ts"

/** What a val is made of. */
interface Beginning {
  readonly name: string
  readonly code: string
  readonly type: "http" | "script" | "interval" | "email"
  readonly readme?: string | null
  /** Left out, it is for nobody else. */
  readonly privacy?: "private" | "unlisted"
}

const limits = { triesMax: 20, nameCharsMax: 48 }

/**
 * Makes a val of an example and goes to it. The name gets a number where there is one of that name.
 */
export async function createFromExample(example: Beginning): Promise<void> {
  try {
    for (let number = 1; number <= limits.triesMax; number += 1) {
      const val = await create(example, toName(example.name, number))
      if (val) {
        navigate(new URL(val.url).pathname)
        return
      }
    }
    throw new Error(`Cannot make a val "${example.name}": you have too many of that name`)
  } catch (error) {
    sayFailed(error)
  }
}

function toName(name: string, number: number): string {
  const end = number === 1 ? "" : String(number)
  return name.slice(0, limits.nameCharsMax - end.length) + end
}

async function create({ code, type, readme = null, privacy = "private" }: Beginning, name: string) {
  try {
    return await api.createVal({ name, code, type, readme, privacy })
  } catch (error) {
    if (error instanceof ApiError && error.code === "name_taken") return undefined
    throw error
  }
}
