import type { Item } from "@hamlet/contract/client"
import { Icon } from "../../../ui/icon.tsx"
import { PrivacyBadge, TypeBadge } from "../badges.tsx"
import { TimeAgo } from "../time-ago.tsx"
import { ValPicture } from "./val-picture.tsx"

/** A list of vals, each with a line that says what it is. */
export function ValList({ vals }: { vals: readonly Item<"listVals">[] }) {
  return (
    <ul class="val-list">
      {vals.map((val) => (
        <li key={val.id} class="ruled val-item">
          <div class="row wrap val-item-head">
            <ValPicture url={val.imageUrl} />
            <a class="table-name" href={`/u/${val.author.username}/${val.name}`}>
              <span class="quiet">{val.author.username}/</span>
              {val.name}
            </a>
            <TypeBadge type={val.type} />
            {val.privacy === "public" ? null : <PrivacyBadge privacy={val.privacy} />}
            <span class="row small val-item-facts">
              <span title="Likes">
                <Icon name="heart" /> {val.likeCount}
                <span class="visually-hidden"> likes</span>
              </span>
              <span title="Vals that import it">
                <Icon name="imports" /> {val.referenceCount}
                <span class="visually-hidden"> references</span>
              </span>
              {val.forkCount > 0 ? (
                <span title="Forks">
                  <Icon name="fork" /> {val.forkCount}
                  <span class="visually-hidden"> forks</span>
                </span>
              ) : null}
              <TimeAgo at={val.versionCreatedAt} />
            </span>
          </div>
          <p class="breaks val-item-text">{val.summary}</p>
          {val.forkedFrom ? (
            <p class="row small breaks val-item-origin">
              <Icon name="fork" />
              Forked from{" "}
              <a href={`/u/${val.forkedFrom.author.username}/${val.forkedFrom.name}`}>
                {val.forkedFrom.author.username}/{val.forkedFrom.name}
              </a>
            </p>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
