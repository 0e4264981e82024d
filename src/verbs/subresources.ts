// The subresources of pods that take an object of another kind.
import type { Kind } from '../kinds/kind.js'
import type { VirtualResource } from '../request/virtual-resource.js'
import type { ApiContext } from './api-context.js'
import { podBindings } from './subresources/pod-binding.js'
import { podEvictions } from './subresources/pod-eviction.js'

export interface PodSubresourceKinds {
  readonly pods: Kind
  readonly budgets: Kind
}

export const podSubresources = (context: ApiContext, { pods, budgets }: PodSubresourceKinds): VirtualResource[] => [
  ...podBindings(context, pods),
  podEvictions(context, pods, budgets),
]
