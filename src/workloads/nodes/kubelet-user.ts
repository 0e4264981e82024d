// The user as which a kubelet writes.
import type { Component } from '../common/workload-env.js'

export const kubeletUser = (node: string): Component => ({
  user: `system:node:${node}`,
  groups: ['system:nodes'],
  manager: 'kubelet',
})
