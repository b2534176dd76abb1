import type { ComponentChildren } from "preact"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { setQuery } from "../frame/location.ts"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { CountButton } from "../parts/buttons/link-button.tsx"
import { type LinkTab, LinkTabs } from "../parts/link-tabs.tsx"
import { session } from "../session/session.ts"
import { BranchMenu } from "./branches/branch-menu.tsx"
import { toBranchQuery } from "./branches/use-branches.ts"
import { mainBranch } from "./files/load-files.ts"
import { ForkButton, ForkedFrom } from "./fork-parts.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** The name and the tabs of a val in one bar, and at its end what belongs to the tab. */
export function ValBar(
  props: Pick<ValTabProps, "editing" | "isOwn" | "base" | "tab"> & {
    readonly children: ComponentChildren
  },
) {
  const { editing, isOwn, base, tab, children } = props
  const { name, author, privacy, type, referenceCount, branchCount } = editing.val.value
  const branch = editing.branch.value
  const toHref = (part: string) =>
    `${base}${part === "" ? "" : `/${part}`}${toBranchQuery(branch.name)}`
  const tabs: readonly LinkTab[] = [
    { href: toHref(""), label: "Code" },
    { href: toHref("readme"), label: "Readme" },
    { href: toHref("versions"), label: "Versions" },
    ...(branchCount > 1 ? [{ href: toHref("branches"), label: "Branches" }] : []),
    { href: toHref("runs"), label: "Runs" },
    { href: toHref("discussion"), label: "Discussion" },
    { href: toHref("graph"), label: "Graph", count: referenceCount },
    ...(isOwn ? [{ href: toHref("settings"), label: "Settings" }] : []),
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
        <a class="badge" href={toHref("versions")} title="The current version">
          v{branch.version}
        </a>
        <CurrentBranch editing={editing} isOwn={isOwn} />
        <TypeBadge type={type} />
        <PrivacyBadge privacy={privacy} />
      </div>
      <LinkTabs label="Val" current={toHref(tab)} tabs={tabs} />
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
  const { branch } = editing
  const show = (name: string) =>
    setQuery({
      branch: name === mainBranch ? undefined : name,
      ...{ file: undefined, line: undefined, from: undefined, to: undefined, show: undefined },
    })
  return <BranchMenu val={editing.val.value} branch={branch.value} isOwn={isOwn} onSwitch={show} />
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
