import type { Item } from "@hamlet/contract/client"
import { TypeBadge } from "../parts/badges.tsx"
import { findHitLines, type HitLine, markHits } from "./find-hits.ts"

/** The vals that match a search, with the matching lines. */
export function SearchHits(props: { vals: readonly Item<"searchVals">[]; query: string }) {
  const { vals, query } = props
  return (
    <ul class="val-list">
      {vals.map((val) => {
        const inReadme = findHitLines(val.readme ?? "", query)
        const inCode = findHitLines(val.code, query)
        return (
          <li key={val.id} class="val-item">
            <div class="val-item-head">
              <a class="table-name" href={`/u/${val.author.username}/${val.name}`}>
                <span class="quiet">{val.author.username}/</span>
                <Marked parts={markHits(val.name, query)} />
              </a>
              <TypeBadge type={val.type} />
            </div>
            {inReadme.map((line) => (
              <p key={line.number} class="val-item-text">
                <Marked parts={line.parts} />
              </p>
            ))}
            {inCode.length > 0 ? (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access
              <pre class="hit-code" tabIndex={0}>
                {inCode.map((line) => (
                  <div key={line.number}>
                    <span class="hit-number">{line.number}</span>
                    <Marked parts={line.parts} />
                  </div>
                ))}
              </pre>
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}

function Marked({ parts }: { parts: HitLine["parts"] }) {
  return parts.map(({ text, isHit }, index) => (isHit ? <mark key={index}>{text}</mark> : text))
}
