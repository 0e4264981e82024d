// The documents of the discovery endpoints: API versions, groups, resources, and the version of the server.
import { byPath, endpointOperation, groupIdPrefix, groupTag, type Operation } from '../operations/operations.js'
import type { PublishedVersion } from '../operations/published-versions.js'

/** By the path in the index. Custom groups have none. */
export function endpointOperations(versions: readonly PublishedVersion[]): Map<string, Map<string, Operation[]>> {
  const groups = new Set(versions.filter(({ group, isCustom }) => group !== '' && !isCustom).map(({ group }) => group))
  return new Map([
    ['api', byPath([CORE])],
    ['apis', byPath([GROUPS])],
    ['version', byPath([VERSION])],
    ...[...groups].map((group): [string, Map<string, Operation[]>] => [`apis/${group}`, byPath([groupPage(group)])]),
  ])
}

const groupPage = (group: string): Operation =>
  endpointOperation(
    `/apis/${group}/`,
    `get${groupIdPrefix(group)}APIGroup`,
    groupTag(group),
    'get information of a group',
    'meta/v1.APIGroup',
  )

const CORE = endpointOperation(
  '/api/',
  'getCoreAPIVersions',
  'core',
  'get available API versions',
  'meta/v1.APIVersions',
)
const GROUPS = endpointOperation(
  '/apis/',
  'getAPIVersions',
  'apis',
  'get available API versions',
  'meta/v1.APIGroupList',
)
const VERSION = endpointOperation(
  '/version/',
  'getCodeVersion',
  'version',
  'get the version of the server',
  'version.Info',
)
