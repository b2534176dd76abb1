import type { Item } from "@hamlet/contract/client"
import { Icon } from "../../ui/icon.tsx"
import { PrivacyBadge, TypeBadge } from "./badges.tsx"
import { TimeAgo } from "./time-ago.tsx"

/** A list of vals with a line from the readme or the code. */
export function ValList({ vals }: { vals: readonly Item<"listVals">[] }) {
  return (
    <ul class="val-list">
      {vals.map((val) => (
        <li key={val.id} class="val-item">
          <div class="val-item-head">
            <a class="table-name" href={`/u/${val.author.username}/${val.name}`}>
              <span class="quiet">{val.author.username}/</span>
              {val.name}
            </a>
            <TypeBadge type={val.type} />
            {val.privacy === "public" ? null : <PrivacyBadge privacy={val.privacy} />}
            <span class="val-item-facts">
              <span title="Likes">
                <Icon name="heart" /> {val.likeCount}
                <span class="visually-hidden"> likes</span>
              </span>
              <span title="Vals that import it">
                <Icon name="branch" /> {val.referenceCount}
                <span class="visually-hidden"> references</span>
              </span>
              <TimeAgo at={val.versionCreatedAt} />
            </span>
          </div>
          <Summary of={val} />
        </li>
      ))}
    </ul>
  )
}

const limits = { charsMax: 180, linesMax: 40 }

/** The first line of the readme that is not a heading, else the first line of code. */
function Summary({ of: { readme, code } }: { of: Pick<Item<"listVals">, "readme" | "code"> }) {
  const lines = (text: string) => text.split("\n", limits.linesMax).map((line) => line.trim())
  const readmeLine = lines(readme ?? "").find((line) => line !== "" && !/^(#|!\[|```|<)/.test(line))
  if (readmeLine !== undefined)
    return <p class="val-item-text">{toPlain(readmeLine).slice(0, limits.charsMax)}</p>
  const codeLine =
    lines(code).find((line) => line !== "" && !/^(import\b|\/\/ hamlet:)/.test(line)) ?? ""
  return <p class="val-item-text val-item-code">{codeLine.slice(0, limits.charsMax)}</p>
}

/** Removes the most common Markdown syntax. */
function toPlain(line: string): string {
  return line.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\*\*|__|`/g, "")
}
