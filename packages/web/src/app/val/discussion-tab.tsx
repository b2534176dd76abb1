import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Markdown } from "../parts/markdown.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { session, whoIsHere } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

const commentCharsMax = 10_000

/** What people said about a val. */
export function DiscussionTab({ editing, isOwn }: ValTabProps) {
  const { id } = editing.val.value
  const comments = usePages("listComments", { val_id: id })
  return (
    <div class="discussion">
      {session.value.kind === "signed-in" ? (
        <CommentForm valId={id} onDone={comments.reload} />
      ) : (
        <p class="quiet">
          <a href="/sign-in">Sign in</a> to say something.
        </p>
      )}
      <Loaded
        of={comments.state}
        onRetry={comments.reload}
        skeleton={<Bars count={4} kind="row" />}
      >
        {({ items }) =>
          items.length > 0 ? (
            <ol class="comments">
              {items.map((comment) => (
                <Comment
                  key={comment.id}
                  comment={comment}
                  isValOwn={isOwn}
                  onChange={comments.reload}
                />
              ))}
            </ol>
          ) : (
            <EmptyState icon="comment" title="Nobody has said anything yet">
              <p>Comments are for questions and thanks; whoever can see the val can see them.</p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={comments} />
    </div>
  )
}

function CommentForm({ valId, onDone }: { valId: string; onDone: () => void }) {
  const text = useSignal("")
  const isShown = useSignal(false)
  const isBusy = useSignal(false)
  const send = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    try {
      await api.createComment({ val_id: valId, comment: text.value })
      text.value = ""
      isShown.value = false
      onDone()
    } catch (error) {
      sayFailed(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form class="comment-form" onSubmit={send}>
      {isShown.value ? (
        <div class="card card-pad">
          <Markdown text={text.value} />
        </div>
      ) : (
        <textarea
          class="input"
          aria-label="Your comment"
          placeholder="Say something, in Markdown"
          required
          maxLength={commentCharsMax}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
        />
      )}
      <div class="form-foot">
        <button type="submit" class="button" disabled={isBusy.value || text.value.trim() === ""}>
          Comment
        </button>
        <button
          type="button"
          class="button button-quiet"
          disabled={text.value.trim() === ""}
          onClick={() => {
            isShown.value = !isShown.value
          }}
        >
          {isShown.value ? "Write" : "Preview"}
        </button>
      </div>
    </form>
  )
}

function Comment({
  comment,
  isValOwn,
  onChange,
}: {
  comment: Item<"listComments">
  isValOwn: boolean
  onChange: () => void
}) {
  const mayDelete = isValOwn || whoIsHere()?.id === comment.author.id
  const remove = async () => {
    if (!confirm("Delete this comment?")) return
    try {
      await api.deleteComment({ comment_id: comment.id })
      sayDone("The comment is deleted")
      onChange()
    } catch (error) {
      sayFailed(error)
    }
  }
  return (
    <li class="comment">
      <Avatar name={comment.author.username} />
      <div class="comment-body">
        <p class="comment-head">
          <a class="table-name" href={`/u/${comment.author.username}`}>
            {comment.author.username}
          </a>
          <span class="quiet">
            <TimeAgo at={comment.createdAt} />
          </span>
          {mayDelete ? (
            <button
              type="button"
              class="link-button link-danger comment-delete"
              onClick={() => void remove()}
            >
              Delete
            </button>
          ) : null}
        </p>
        <Markdown text={comment.comment} />
      </div>
    </li>
  )
}
