// The documents of endpoints without resources: API versions, groups, the version of the server, and the OpenID
// configuration of its service account tokens.
import { byPath, endpointOperation, groupIdPrefix, groupTag, type Operation } from '../operations/operations.js'
import type { PublishedVersion } from '../operations/published-versions.js'
import { STRING_RESPONSE } from '../schemas/dialect.js'

/** By the path in the index. Custom groups have none. */
export function endpointOperations(versions: readonly PublishedVersion[]): Map<string, Map<string, Operation[]>> {
  const groups = new Set(versions.filter(({ group, isCustom }) => group !== '' && !isCustom).map(({ group }) => group))
  return new Map([
    ['.well-known/openid-configuration', byPath([OPENID_CONFIGURATION])],
    ['api', byPath([CORE])],
    ['apis', byPath([GROUPS])],
    ['openid/v1/jwks', byPath([OPENID_KEYS])],
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

const openIdOperation = (path: string, id: string, tag: string, description: string, type: string): Operation => ({
  path,
  method: 'get',
  id,
  tag,
  description,
  parameters: [],
  consumes: [],
  produces: [type],
  responses: { 200: STRING_RESPONSE },
})
const OPENID_CONFIGURATION = openIdOperation(
  '/.well-known/openid-configuration/',
  'getServiceAccountIssuerOpenIDConfiguration',
  'WellKnown',
  'get the OpenID configuration of the service account issuer',
  'application/json',
)
const OPENID_KEYS = openIdOperation(
  '/openid/v1/jwks/',
  'getServiceAccountIssuerOpenIDKeyset',
  'openid',
  'get the JSON Web Key Set of the service account issuer, for the verification of tokens',
  'application/jwk-set+json',
)
