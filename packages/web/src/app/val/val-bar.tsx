import type { ComponentChildren } from "preact"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { setQuery } from "../frame/location.ts"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { CountButton } from "../parts/buttons/link-button.tsx"
import { type LinkTab, LinkTabs } from "../parts/link-tabs.tsx"
import { session } from "../session/session.ts"
import { BranchMenu } from "./branches/branch-menu.tsx"
import { mainName, readBranchName, useBranches } from "./branches/use-branches.ts"
import { ForkButton, ForkedFrom } from "./fork-parts.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** The name and the tabs of a val in one bar, and at its end what belongs to the tab. */
export function ValBar(
  props: Pick<ValTabProps, "editing" | "isOwn" | "base" | "tab"> & {
    readonly children: ComponentChildren
  },
) {
  const { editing, isOwn, base, tab, children } = props
  const { name, author, privacy, type, version, referenceCount, branchCount } = editing.val.value
  const tabs: readonly LinkTab[] = [
    { href: base, label: "Code" },
    { href: `${base}/readme`, label: "Readme" },
    { href: `${base}/versions`, label: "Versions" },
    ...(branchCount > 1 ? [{ href: `${base}/branches`, label: "Branches" }] : []),
    { href: `${base}/runs`, label: "Runs" },
    { href: `${base}/discussion`, label: "Discussion" },
    { href: `${base}/graph`, label: "Graph", count: referenceCount },
    ...(isOwn ? [{ href: `${base}/settings`, label: "Settings" }] : []),
  ]
  return (
    <header class="val-bar">
      <div class="column val-name">
        <h1 class="val-title">
          <a href={`/u/${author.username}`}>{author.username}</a>
          <span class="val-slash">/</span>
          <span title={name}>{name}</span>
        </h1>
        <ForkedFrom editing={editing} />
      </div>
      <div class="row val-badges">
        <a class="badge" href={`${base}/versions`} title="The current version">
          v{version}
        </a>
        <CurrentBranch editing={editing} isOwn={isOwn} />
        <TypeBadge type={type} />
        <PrivacyBadge privacy={privacy} />
      </div>
      <LinkTabs label="Val" current={tab === "" ? base : `${base}/${tab}`} tabs={tabs} />
      <div class="val-bar-end">
        <span class="val-social">
          <ForkButton editing={editing} />
          <LikeButton editing={editing} />
        </span>
        {children}
      </div>
    </header>
  )
}

function CurrentBranch({ editing, isOwn }: Pick<ValTabProps, "editing" | "isOwn">) {
  const val = editing.val.value
  const name = readBranchName()
  const { state } = useBranches(name === mainName ? undefined : val.id)
  const other = state.kind === "ready" ? state.data.find((one) => one.name === name) : undefined
  const branch = name === mainName ? { id: val.id, name, version: val.version } : other
  const show = (chosen: string) => {
    setQuery({ branch: chosen === mainName ? undefined : chosen, from: undefined, to: undefined })
    // The number of branches may have changed.
    void api.getVal({ val_id: val.id }).then((fresh) => editing.refresh(fresh))
  }
  return branch ? <BranchMenu val={val} branch={branch} isOwn={isOwn} onSwitch={show} /> : null
}

function LikeButton({ editing }: Pick<ValTabProps, "editing">) {
  const { id, likeCount } = editing.val.value
  const isSignedIn = session.value.kind === "signed-in"
  const like = useResource(isSignedIn ? id : undefined, (signal) =>
    api.getLike({ val_id: id }, { signal }),
  )
  const isLiked = like.state.kind === "ready" && like.state.data.liked
  const toggle = async () => {
    await (isLiked ? api.unlikeVal({ val_id: id }) : api.likeVal({ val_id: id }))
    like.set({ liked: !isLiked })
    const { likeCount } = await api.getVal({ val_id: id })
    editing.val.value = { ...editing.val.value, likeCount }
  }
  return (
    <CountButton
      icon="heart"
      class="like-button"
      aria-pressed={isLiked}
      disabled={like.state.kind !== "ready"}
      title={!isSignedIn ? "Sign in to like it" : isLiked ? "Unlike" : "Like"}
      action={toggle}
    >
      {likeCount}
      <span class="visually-hidden"> likes</span>
    </CountButton>
  )
}
