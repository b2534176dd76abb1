import { routes } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import { summarizeReadme } from "../../domain/vals/summary.ts"
import { getValByName } from "../../domain/vals/vals.ts"
import type { Nouns } from "../nouns.ts"
import type { PageFacts } from "./page-files.ts"

/**
 * The facts of the page of a val, undefined for other pages. They are the same for all viewers, so
 * those of a private val are left out: a preview is fetched without a session.
 */
export async function findPageFacts(
  { vals, api }: Pick<Nouns, "vals" | "api">,
  path: string,
): Promise<PageFacts | undefined> {
  const [, username = "", val_name = ""] = /^\/u\/([^/]+)\/([^/]+)/.exec(path) ?? []
  const names = routes.getValByName.params.safeParse({ username, val_name })
  if (!names.success) return undefined
  try {
    const val = await getValByName(vals, undefined, names.data.username, names.data.val_name)
    return {
      title: `${val.ownerName}/${val.name}`,
      description: summarizeReadme(val.readme) ?? `A val of ${val.ownerName}`,
      url: `${api.links.baseUrl}/u/${val.ownerName}/${val.name}`,
    }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
