import { route } from "../../route.ts"
import {
  createBranchBody,
  differenceQuery,
  mergeBranchBody,
  offsetQuery,
} from "../../schemas/files/file-inputs.ts"
import { branch, fileDifference, savedVersion } from "../../schemas/files/file-records.ts"
import { page } from "../../schemas/records.ts"

/** The branches of a val. */
export const branchRoutes = {
  listBranches: route("Branches", "get /v2/vals/{val_id}/branches", {
    summary: "The branches of a val, `main` first",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: offsetQuery,
    responses: { 200: page(branch) },
  }),
  createBranch: route("Branches", "post /v2/vals/{val_id}/branches", {
    summary: "Make a branch with a copy of the newest files of another, by default of `main`",
    scope: "val:write",
    valAccess: "own",
    body: createBranchBody,
    responses: { 201: branch },
    errors: ["branch_not_found", "branch_exists", "val_full"],
  }),
  getBranch: route("Branches", "get /v2/vals/{val_id}/branches/{branch_id}", {
    summary: "A branch of a val",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: branch },
  }),
  deleteBranch: route("Branches", "delete /v2/vals/{val_id}/branches/{branch_id}", {
    summary: "Delete a branch with its versions and files",
    scope: "val:write",
    valAccess: "own",
    responses: { 204: null },
    errors: ["branch_is_default"],
  }),
  getBranchDifference: route("Branches", "get /v1/vals/{val_id}/branches/{branch_id}/diff", {
    summary:
      "What has changed on a branch since it was made or last merged, since one of its versions, or compared with another branch",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: differenceQuery,
    responses: { 200: page(fileDifference) },
    errors: ["version_not_found"],
  }),
  mergeBranch: route("Branches", "post /v1/vals/{val_id}/branches/{branch_id}/merge", {
    summary:
      "Take what changed on a branch into the branch that it was made from, or the reverse, in one version",
    scope: "val:write",
    valAccess: "own",
    body: mergeBranchBody,
    hasIfMatch: true,
    responses: { 200: savedVersion },
    errors: [
      "branch_has_no_parent",
      "merge_conflict",
      "file_not_found",
      "file_exists",
      "directory_not_empty",
      "val_full",
      "content_not_text",
      "overloaded",
      "sandbox_unavailable",
    ],
  }),
}
