// SelfSubjectReview: the user of the request, as `kubectl auth whoami` shows it.
import { printTime } from '../../meta/values/time.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import { printUserInfo } from '../../request/user-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'

export const selfSubjectReviews = (): VirtualResource =>
  typedVirtualResource(
    'authentication.k8s.io/v1',
    'selfsubjectreviews',
    async ({ object, request: { user }, now, validate }) => {
      await validate()
      return {
        apiVersion: object.apiVersion,
        kind: object.kind,
        metadata: { creationTimestamp: printTime(now) },
        status: { userInfo: printUserInfo(user) },
      }
    },
  )
