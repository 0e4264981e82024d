// The history of a StatefulSet or DaemonSet: a ControllerRevision for each template that it had.
import { hasReason } from '../../meta/errors/status.js'
import { printJson } from '../../meta/go/go-text.js'
import type { LabelSelector } from '../../meta/selectors/label-selectors.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { ControllerRevision, PodTemplate, WorkloadObject } from '../api/objects.js'
import { claim, controllerRef } from '../common/controller-ref.js'
import { revisionHash } from '../common/hash.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import type { Writes } from '../common/writes.js'

/** The label of pods with their revision. */
export const REVISION_HASH = 'controller-revision-hash'

export interface Revisions {
  /** In the order of their numbers. */
  readonly all: readonly ControllerRevision[]
  /** That of the template. */
  readonly update: ControllerRevision
  /** The number of names that were taken. */
  readonly collisions: number
}

export type Owner = WorkloadObject & { readonly spec: { readonly template: PodTemplate } }

/** The patch that brings an object to the template. */
const patchOf = (template: PodTemplate): Value =>
  ({ spec: { template: { ...template, $patch: 'replace' } } }) as unknown as Value

/** With the members of objects in order of their names, as in Go: clients compare the bytes with their own JSON. */
const sorted = (data: Value): Value => JSON.parse(printJson(data)) as Value

const templateOf = (revision: ControllerRevision): PodTemplate | undefined =>
  (revision.data as { readonly spec?: { readonly template?: PodTemplate } } | undefined)?.spec?.template

/** The template of a revision, without the mark of the patch. */
export function storedTemplate(revision: ControllerRevision): PodTemplate | undefined {
  const template = templateOf(revision)
  if (!template) return undefined
  const { $patch: _, ...rest } = template as PodTemplate & { readonly $patch?: string }
  return rest
}

export interface HistoryOptions {
  readonly owner: Owner
  readonly selector: LabelSelector
  readonly labels: Readonly<Record<string, string>>
  readonly collisions: number
  /** The label of the revision with its hash. */
  readonly hashLabel: string
}

export async function syncRevisions(w: WorkloadEnv, writes: Writes, options: HistoryOptions): Promise<Revisions> {
  const { owner, selector } = options
  const claimed = await claim(owner, selector, w.revisions, writes)
  const all = claimed.toSorted(byNumber)
  const data = patchOf(owner.spec.template)
  const equal = all.filter(each => equalValues(each.data as Value, data))
  const next = (all.at(-1)?.revision ?? 0) + 1
  const last = equal.at(-1)
  if (last && last === all.at(-1)) return { all, update: last, collisions: options.collisions }
  if (last) {
    // A template of before is the newest again.
    const moved = await writes.update(w.revisions, last, old => ({ ...old, revision: next }))
    const update = moved ?? last
    return { all: [...all.filter(each => each !== last), update], update, collisions: options.collisions }
  }
  const created = await createRevision(w, writes, options, data, next)
  return { all: [...all, created.update], ...created }
}

async function createRevision(
  w: WorkloadEnv,
  writes: Writes,
  { owner, labels, hashLabel, ...options }: HistoryOptions,
  data: Value,
  revision: number,
): Promise<{ update: ControllerRevision; collisions: number }> {
  const { namespace = '', name } = owner.metadata
  for (let collisions = options.collisions; ; collisions++) {
    const hash = revisionHash(data, collisions)
    const revisionName = `${name.slice(0, 223)}-${hash}`
    try {
      const update = await writes.create(w.revisions, {
        metadata: {
          name: revisionName,
          namespace,
          labels: { ...labels, [hashLabel]: hash },
          ownerReferences: [controllerRef(owner)],
          ...(owner.metadata.annotations && { annotations: copiedAnnotations(owner) }),
        },
        data: sorted(data),
        revision,
      })
      return { update, collisions }
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      const taken = w.revisions.get(namespace, revisionName)
      if (taken && equalValues(taken.data as Value, data)) return { update: taken, collisions }
      if (collisions > options.collisions + 100) throw error
    }
  }
}

const copiedAnnotations = (owner: Owner): Readonly<Record<string, string>> => ({ ...owner.metadata.annotations })

const byNumber = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision ||
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1)

/** Deletes the oldest that nothing uses, beyond the limit. */
export async function cleanUpRevisions(
  w: WorkloadEnv,
  writes: Writes,
  { all }: Revisions,
  isUsed: (revision: ControllerRevision) => boolean,
  limit: number,
): Promise<void> {
  const unused = all.filter(each => !isUsed(each))
  for (const each of unused.slice(0, Math.max(0, unused.length - limit))) await writes.delete(w.revisions, each)
}
