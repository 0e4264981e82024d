// `GET /console/api/requests?after=SEQ`: the last requests.

import { badRequest } from '../../meta/errors/status.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Endpoint } from './endpoint.js'
import type { RecentRequest, RecentRequests } from './recent-requests.js'

export const createRequests =
  (recent: RecentRequests): Endpoint =>
  ({ query }) => {
    const after = Number(query.get('after') ?? 0)
    if (!Number.isSafeInteger(after)) throw badRequest('after must be a whole number')
    return { requests: recent.after(after).map(describe), next: recent.count }
  }

/** Empty texts are left out. */
function describe({ at, groups, ...request }: RecentRequest): ValueObject {
  const filled = Object.entries(request).filter(([, value]) => value !== '')
  return { ...Object.fromEntries(filled), time: new Date(at).toISOString(), groups: [...groups] }
}
