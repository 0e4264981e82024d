// The subresources that are not stored: those of pods that take an object of another kind, and those that connect.
import type { Kind } from '../kinds/kind.js'
import type { ConnectResource } from '../request/connect-resource.js'
import type { VirtualResource } from '../request/virtual-resource.js'
import type { ApiContext } from './api-context.js'
import type { ConnectKinds } from './subresources/connect/connect-kinds.js'
import { type MayCreate, podStreams } from './subresources/connect/pod-streams.js'
import { proxies } from './subresources/connect/proxies.js'
import { podBindings } from './subresources/pod-binding.js'
import { podEvictions } from './subresources/pod-eviction.js'
import { serverObjects } from './system-writes.js'

export type { MayCreate }

export interface PodSubresourceKinds {
  readonly pods: Kind
  readonly budgets: Kind
}

/** `clearsNomination`: whether a pod that is bound has no nominated node any more. */
export const podSubresources = (
  context: ApiContext,
  { pods, budgets }: PodSubresourceKinds,
  clearsNomination = true,
): VirtualResource[] => [...podBindings(context, pods, clearsNomination), podEvictions(context, pods, budgets)]

export function connectSubresources(context: ApiContext, kinds: ConnectKinds, mayCreate: MayCreate): ConnectResource[] {
  const objects = serverObjects(context)
  return [...podStreams(objects, kinds, mayCreate), ...proxies(objects, kinds)]
}
