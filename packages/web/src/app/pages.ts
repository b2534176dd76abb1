import type { ComponentType } from "preact"
import type { PageProps } from "./page-props.ts"

/** A page that has not been loaded yet. */
export interface PageRow {
  /** `/u/{username}`: parts in braces stand for one part of the path. */
  readonly pattern: string
  /** Only for those who are signed in; others are asked to, and come back here. */
  readonly isPersonal?: true
  /** Without the frame of the app around it. */
  readonly isBare?: true
  /** Each page is a file of its own, so that the first one does not wait for all. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>
}

// One function for all paths of a page: it is how the app knows that it has the page already, and
// need not take away what is shown.
const loadAccount = () => import("./pages/account.tsx")
const loadVal = () => import("./pages/val.tsx")

/** The pages there are. The server knows their first parts too: `http/web-app.ts`. */
const pages: readonly PageRow[] = [
  { pattern: "/", load: () => import("./pages/home.tsx") },
  { pattern: "/sign-in", isBare: true, load: () => import("./pages/sign-in.tsx") },
  { pattern: "/invitation", isBare: true, load: () => import("./pages/invitation.tsx") },
  { pattern: "/new", isPersonal: true, load: () => import("./pages/new-val.tsx") },
  { pattern: "/search", load: () => import("./pages/search.tsx") },
  { pattern: "/runs", isPersonal: true, load: () => import("./pages/runs.tsx") },
  { pattern: "/runs/{runId}", isPersonal: true, load: () => import("./pages/run.tsx") },
  { pattern: "/account", isPersonal: true, load: loadAccount },
  { pattern: "/account/{section}", isPersonal: true, load: loadAccount },
  { pattern: "/u/{username}", load: () => import("./pages/user.tsx") },
  { pattern: "/u/{username}/{valName}", load: loadVal },
  { pattern: "/u/{username}/{valName}/{tab}", load: loadVal },
  { pattern: "/embed/{username}/{valName}", isBare: true, load: () => import("./pages/embed.tsx") },
]

/** The page at a path, and what the path says. */
export function findPage(
  path: string,
): { readonly row: PageRow; readonly props: PageProps } | undefined {
  const parts = split(path)
  for (const row of pages) {
    const props = match(split(row.pattern), parts)
    if (props) return { row, props }
  }
  return undefined
}

function split(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "")
}

function match(pattern: readonly string[], parts: readonly string[]): PageProps | undefined {
  if (pattern.length !== parts.length) return undefined
  const props: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index] ?? ""
    if (expected.startsWith("{")) props[expected.slice(1, -1)] = decode(part)
    else if (expected !== part) return undefined
  }
  return props
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
