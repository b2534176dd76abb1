import { useSignal } from "@preact/signals"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { sayFailed } from "../frame/toast-list.ts"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { session } from "../session/session.ts"
import { createFromExample } from "./create-val.ts"
import type { ValTabProps } from "./val-tab-props.ts"

/** Whose val it is, what it is called, and where it answers. */
export function ValHead({ editing, isOwn }: Pick<ValTabProps, "editing" | "isOwn">) {
  const { name, author, privacy, type, version, links } = editing.val.value
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
        {isOwn ? null : <ForkButton editing={editing} />}
        <LikeButton editing={editing} />
      </div>
    </header>
  )
}

function LikeButton({ editing }: Pick<ValTabProps, "editing">) {
  const isBusy = useSignal(false)
  const { id, likeCount } = editing.val.value
  const isSignedIn = session.value.kind === "signed-in"
  const like = useResource(isSignedIn ? id : undefined, (signal) =>
    api.getLike({ val_id: id }, { signal }),
  )
  const isLiked = like.state.kind === "ready" && like.state.data.liked
  const toggle = async () => {
    isBusy.value = true
    try {
      await (isLiked ? api.unlikeVal({ val_id: id }) : api.likeVal({ val_id: id }))
      like.set({ liked: !isLiked })
      editing.val.value = {
        ...editing.val.value,
        likeCount: (await api.getVal({ val_id: id })).likeCount,
      }
    } catch (error) {
      sayFailed(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <button
      type="button"
      class="button button-quiet button-small like-button"
      aria-pressed={isLiked}
      disabled={like.state.kind !== "ready" || isBusy.value}
      title={isSignedIn ? "Like it, or take that back" : "Sign in to like it"}
      onClick={() => void toggle()}
    >
      <Icon name="heart" /> {likeCount}
      <span class="visually-hidden"> likes</span>
    </button>
  )
}

/** Makes a val of one's own of the same code. */
function ForkButton({ editing }: Pick<ValTabProps, "editing">) {
  const isBusy = useSignal(false)
  if (session.value.kind !== "signed-in") return null
  const fork = async () => {
    isBusy.value = true
    const { code, type, name, readme } = editing.val.value
    await createFromExample({ name, code, type, readme })
    isBusy.value = false
  }
  return (
    <button
      type="button"
      class="button button-quiet button-small"
      disabled={isBusy.value}
      onClick={() => void fork()}
    >
      <Icon name="branch" /> Make a copy
    </button>
  )
}
