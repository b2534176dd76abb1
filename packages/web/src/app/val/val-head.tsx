import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { useAction } from "../parts/use-action.ts"
import { session } from "../session/session.ts"
import { ForkButton, ForkedFrom } from "./fork-parts.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** The owner, name, badges, web address and mail address of a val. */
export function ValHead({ editing }: Pick<ValTabProps, "editing">) {
  const { name, author, privacy, type, version, links, emailAddress } = editing.val.value
  return (
    <header class="val-head">
      <h1 class="val-title">
        <a href={`/u/${author.username}`}>{author.username}</a>
        <span class="val-slash">/</span>
        <span>{name}</span>
      </h1>
      <TypeBadge type={type} />
      <PrivacyBadge privacy={privacy} />
      <a class="badge" href={`/u/${author.username}/${name}/versions`} title="The current version">
        v{version}
      </a>
      <div class="val-head-end">
        {links.endpoint ? (
          <span class="val-address">
            <a href={links.endpoint} target="_blank" rel="noopener noreferrer">
              {new URL(links.endpoint).host}
            </a>
            <CopyButton text={links.endpoint} label="Copy the web address" />
          </span>
        ) : null}
        {emailAddress === undefined ? null : (
          <span class="val-address">
            <a href={`mailto:${emailAddress}`}>{emailAddress}</a>
            <CopyButton text={emailAddress} label="Copy the mail address" />
          </span>
        )}
        <ForkButton editing={editing} />
        <LikeButton editing={editing} />
      </div>
      <ForkedFrom editing={editing} />
    </header>
  )
}

function LikeButton({ editing }: Pick<ValTabProps, "editing">) {
  const { isBusy, run } = useAction()
  const { id, likeCount } = editing.val.value
  const isSignedIn = session.value.kind === "signed-in"
  const like = useResource(isSignedIn ? id : undefined, (signal) =>
    api.getLike({ val_id: id }, { signal }),
  )
  const isLiked = like.state.kind === "ready" && like.state.data.liked
  const toggle = () =>
    run(async () => {
      await (isLiked ? api.unlikeVal({ val_id: id }) : api.likeVal({ val_id: id }))
      like.set({ liked: !isLiked })
      const { likeCount } = await api.getVal({ val_id: id })
      editing.val.value = { ...editing.val.value, likeCount }
    })
  return (
    <button
      type="button"
      class="button button-quiet button-small like-button"
      aria-pressed={isLiked}
      disabled={like.state.kind !== "ready" || isBusy}
      title={!isSignedIn ? "Sign in to like it" : isLiked ? "Unlike" : "Like"}
      onClick={() => void toggle()}
    >
      <Icon name="heart" /> {likeCount}
      <span class="visually-hidden"> likes</span>
    </button>
  )
}
