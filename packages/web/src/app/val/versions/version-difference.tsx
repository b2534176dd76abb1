import { LazyDiffView } from "../../../editor/lazy.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { isNotFound } from "../../data/explain.ts"
import { Loaded } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"

/** The changes between two versions; nothing is fetched while the first is undefined. */
export function VersionDifference(props: {
  readonly valId: string
  readonly from: number | undefined
  readonly to: number
  readonly layout: "inline" | "side-by-side"
  readonly path: string
}) {
  const { valId, from, to, layout, path } = props
  const key = from === undefined ? undefined : `${valId} ${from} ${to}`
  const texts = useResource(key, async (signal) => {
    const [before, after] = await Promise.all(
      [from, to].map((version) => loadCode(valId, version ?? 0, signal)),
    )
    return { before, after }
  })
  return (
    <Loaded of={texts} skeleton={<Bars count={8} />}>
      {({ before, after }) => {
        if (before === undefined || after === undefined)
          return (
            <p class="quiet">
              Version {before === undefined ? from : to} was deleted, or never existed.
            </p>
          )
        if (before === after) return <p class="quiet">The versions are the same.</p>
        const label = `Changes from ${from === 0 ? "nothing" : `version ${from}`} to version ${to}`
        return (
          <div class="diff-host">
            <LazyDiffView before={before} after={after} layout={layout} path={path} label={label} />
          </div>
        )
      }}
    </Loaded>
  )
}

/** Version 0 is empty; a deleted version has no code. */
async function loadCode(
  valId: string,
  version: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (version < 1) return ""
  try {
    return (await api.getVersion({ val_id: valId, version }, { signal })).code
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
