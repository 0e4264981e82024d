// Recognizes that the data of etcd was replaced, by a backup or by nothing, while this process runs: a watch that goes on
// after that would miss what was lost, and what was written in its place under the same revisions.
//
// A watch that begins again compares what it knows with one read: the cluster is the same, its raft term has not gone back
// (terms only grow, and a restored cluster begins with the first), and the key of the watch's last event is as that event
// left it. That is certain for a backup that `etcdutl snapshot restore` made, and for the loss of the last event.
import type { Revision } from '../revision.js'
import { StorageError } from '../storage-error.js'
import type { Header, KeyValue } from './client/messages.js'
import type { EventIntake } from './event-intake.js'

export interface LastEvent {
  readonly path: string
  readonly revision: Revision
  readonly isDelete: boolean
}

/** What a watch knows of the data that it watches. */
export interface KnownData {
  /** All events up to here have arrived. */
  readonly revision: Revision
  /** The last event up to that revision, if there was one. */
  readonly last: LastEvent | undefined
  /** Of the last read that found the data as it was. */
  readonly header: Header | undefined
}

/** The last event may belong to a revision of which more events follow. */
export const stateOf = ({ received }: EventIntake, last: LastEvent | undefined): Omit<KnownData, 'header'> => ({
  revision: received,
  last: last && last.revision <= received ? last : undefined,
})

/** `found` is what the key of the last event was at the known revision. */
export function checkSameData({ header: before, last }: KnownData, header: Header, found: KeyValue | undefined): void {
  if (before && header.clusterId !== before.clusterId) throw replaced('it is another cluster')
  if (before && header.raftTerm < before.raftTerm) {
    throw replaced(`its raft term was ${before.raftTerm}, and is ${header.raftTerm}`)
  }
  if (last && (last.isDelete ? found !== undefined : found?.modRevision !== last.revision)) {
    throw replaced(`the write of revision ${last.revision} is not in it`)
  }
}

/** Whether an error means that etcd has other data: a revision that was reached is in the future again, for example. */
export const isReplaced = (error: unknown): error is StorageError =>
  error instanceof StorageError && (error.code === 'data-replaced' || error.code === 'future-revision')

const replaced = (why: string): StorageError =>
  new StorageError('data-replaced', `the data of etcd was replaced: ${why}`)
