// Who am I, as `kubectl auth whoami` asks.
import { printTime } from '../../meta/values/time.js'
import { typedVirtualKind } from '../../request/typed-virtual-resource.js'
import type { VirtualKind } from '../../request/virtual-resource.js'
import { userInfo } from './user-info.js'

export const selfSubjectReviews = (): VirtualKind =>
  typedVirtualKind('authentication.k8s.io/v1', 'selfsubjectreviews', async ({ object, caller, now }) => ({
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { creationTimestamp: printTime(now) },
    status: { userInfo: userInfo(caller) },
  }))
