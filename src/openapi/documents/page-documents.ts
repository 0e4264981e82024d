// The documents about the pages that tell what there is: which versions, groups and resources, and of what server.
import { byPath, groupPlace, groupTag, type Operation, pageOperation } from '../operations/operations.js'
import type { PublishedVersion } from '../operations/published-versions.js'

/** By the path that the index lists them under. Custom groups have none. */
export function pageOperations(versions: readonly PublishedVersion[]): Map<string, Map<string, Operation[]>> {
  const groups = new Set(versions.filter(({ group, isCustom }) => group !== '' && !isCustom).map(({ group }) => group))
  return new Map([
    ['api', byPath([CORE])],
    ['apis', byPath([GROUPS])],
    ['version', byPath([VERSION])],
    ...[...groups].map((group): [string, Map<string, Operation[]>] => [`apis/${group}`, byPath([groupPage(group)])]),
  ])
}

const groupPage = (group: string): Operation =>
  pageOperation(
    `/apis/${group}/`,
    `get${groupPlace(group)}APIGroup`,
    groupTag(group),
    'get information of a group',
    'meta/v1.APIGroup',
  )

const CORE = pageOperation('/api/', 'getCoreAPIVersions', 'core', 'get available API versions', 'meta/v1.APIVersions')
const GROUPS = pageOperation('/apis/', 'getAPIVersions', 'apis', 'get available API versions', 'meta/v1.APIGroupList')
const VERSION = pageOperation('/version/', 'getCodeVersion', 'version', 'get the version of the server', 'version.Info')
