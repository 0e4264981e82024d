// Differences that are known and meant so, or that belong to the reference itself, with the reason of each.

/**
 * `matches` is given `{ step, text, got, want, before }`; `text` is one difference as `path: got … want …`, `before` are the
 * steps of the scenario up to this one.
 */
export const KNOWN = [
  {
    reason: 'the reference refuses work while it starts the storage of a new definition, or answers a moment late',
    matches: ({ want }) =>
      want?.status === 429 || /storage is \(re\)initializing/.test(JSON.stringify(want?.body ?? '')),
  },
  {
    reason: 'the answer names the current revision, which differs between stores',
    matches: ({ text }) =>
      /Too large resource version|does not match the ResourceVersion in record|too old resource version|The resourceVersion for the provided/.test(
        text,
      ),
  },
  {
    reason: 'the order of maps is random in Go: the first of several errors in a map may be any of them',
    matches: ({ got, want }) =>
      got?.status === want?.status && [got, want].every(answer => ERRORS_OF_MAPS.test(answer?.body?.message ?? '')),
  },
  {
    reason: 'the same: several errors of a configuration come in any order',
    matches: ({ text, got, want }) =>
      /^\/body\/(message|details\/causes)/.test(text) &&
      /errors:\n/.test(want?.body?.message ?? '') &&
      sortedLines(got?.body?.message) === sortedLines(want?.body?.message),
  },
  {
    reason: 'a watch as PartialObjectMetadataList or in another form of lists: the reference breaks off the stream',
    matches: ({ want, got }) => Array.isArray(want?.events) && want.events.length === 0 && got?.events?.length > 0,
  },
  {
    reason: 'with resourceVersion=0 the reference may answer from a cache that lags',
    matches: ({ step, want }) => /resourceVersion=0(&|$)/.test(step.path ?? '') && [200, 404].includes(want?.status),
  },
  {
    reason:
      'the reference stores an empty map of labels until the next write, which therefore gets a new resourceVersion',
    matches: ({ text, before }) =>
      /resourceVersion: got "<rv:\d+>" want "<rv:\d+>"/.test(text) && before.some(appliesEmptyMap),
  },
  {
    reason:
      'the reference stores a new claim without its phase, and a new job without labels, until the next write, even if that changes nothing',
    matches: ({ step, text }) =>
      /\/(persistentvolumeclaims|jobs)\//.test(step.path ?? '') &&
      /resourceVersion: got "<rv:\d+>" want "<rv:\d+>"/.test(text),
  },
  {
    reason: 'uids are numbered in the order of members; a LimitRange without a name has one as its name',
    matches: ({ step, text }) =>
      /\/limitranges/.test(step.path ?? '') && /: got "<uid:\d+>" want "<uid:\d+>"$/.test(text),
  },
  {
    reason:
      'the bookmark of a watch of workloads has spec.replicas 0 there: its own version of these kinds has a plain number',
    matches: ({ text }) => /^\/events\/\d+\/object\/spec\/replicas: got nothing want 0$/.test(text),
  },
  {
    reason: 'the token controller of the reference deletes tokens of accounts that there are not',
    matches: ({ want, before }) =>
      want?.status === 404 && JSON.stringify(before).includes('kubernetes.io/service-account-token'),
  },
  {
    reason: 'an address or port that a scenario names may be taken on one server',
    matches: ({ step, want, got, before }) =>
      /\/services(\/|\?|$)/.test(step.path ?? '') &&
      want?.status !== got?.status &&
      before.some(({ body }) => /"(clusterIP|nodePort|healthCheckNodePort)":"?\d/.test(JSON.stringify(body ?? ''))),
  },
  {
    reason: 'the reference has compacted its history, or not yet',
    matches: ({ want, got }) =>
      (want?.status === 410) !== (got?.status === 410) || (want?.status === 410 && got?.status === 410),
  },
  {
    reason: 'the reference panics and breaks off the connection',
    matches: ({ want }) => want?.broken !== undefined,
  },
  {
    reason: 'ages in the later events of a watch in the form of tables, which have no columns, pass a second',
    matches: ({ text }) => /^\/events\/\d+\/object\/rows\/\d+\/cells\/\d+: got "\d+s" want "\d+s"$/.test(text),
  },
  {
    reason: 'the version of an empty list of metadata is that of the store, which others write to',
    matches: ({ text, want }) =>
      text.startsWith('/body/metadata/resourceVersion: ') &&
      want?.body?.kind === 'PartialObjectMetadataList' &&
      want.body.items === null,
  },
  {
    reason:
      'a deletecollection deletes up to 16 objects at a time, of which the reference has not begun with those after an error',
    matches: ({ text, before }) =>
      text.startsWith('/calls/') &&
      before.some(({ method, path }) => method === 'DELETE' && /\/namespaces\/[^/]+\/[^/?]+(\?|$)/.test(path)),
  },
  {
    reason: 'members of an object that a webhook returned are quoted in the order in which they were sent',
    matches: ({ text }) => /Object 'Kind' is missing in/.test(text),
  },
  {
    reason: 'uids of reviews are numbered with those in answers that are not compared',
    matches: ({ text }) => /expected response\.uid/.test(text),
  },
  {
    reason: 'Go names the part of a certificate that it cannot parse',
    matches: ({ text }) => /^\/warnings\/\d+: got .*x509: malformed certificate/.test(text),
  },
  {
    reason: 'Go prints addresses of pointers',
    matches: ({ want }) => /\(\*[a-zA-Z0-9./]+\)\(0x|0xc[0-9a-f]{9}/.test(JSON.stringify(want?.body ?? '')),
  },
  {
    reason: 'service and pod addresses, and node ports, are chosen by chance',
    matches: ({ text }) =>
      /\/(clusterIPs?(\/\d+)?|nodePort|healthCheckNodePort): got/.test(text) ||
      /\/rows\/\d+\/cells\/\d+: got "10\.[\d.]+" want "10\.[\d.]+"$/.test(text),
  },
  {
    reason: 'the time of a change of phase may fall into the next second',
    matches: ({ text }) => /\/lastPhaseTransitionTime: got "[^"]*" want "[^"]*"$/.test(text),
  },
  {
    reason: 'an object that waits for the garbage collector is gone sooner here',
    matches: ({ before, got, want }) =>
      before.some(step => step.method === 'DELETE' && waitsForCollector(step)) &&
      (got?.status !== want?.status || want?.body?.metadata?.deletionTimestamp !== undefined),
  },
  {
    reason: 'a namespace that is deleted is finalized sooner here',
    matches: ({ before }) =>
      before.some(({ method, path }) => method === 'DELETE' && /^\/api\/v1\/namespaces\/[^/?]+(\?|$)/.test(path)),
  },
  {
    reason:
      'they may be taken where a scenario names one; and of a create that several checks refuse the name comes first here',
    matches: ({ want, got }) =>
      [got, want].some(answer =>
        /failed to allocate IP|provided (IP|port) is already allocated/.test(answer?.body?.message ?? ''),
      ),
  },
  {
    reason: 'the status of a FlowSchema is written a moment later there',
    matches: ({ step, text, want }) =>
      /\/flowschemas\//.test(step.path ?? '') &&
      (/managedFields|status|api-priority-and-fairness/.test(text) || /api-priority/.test(want?.body?.message ?? '')),
  },
  {
    reason: 'a changed definition is served and its status complete when the change is answered; there it is later',
    matches: ({ step, text }) =>
      /\/customresourcedefinitions\//.test(step.path ?? '') &&
      /^\/body\/*status\/(conditions|acceptedNames|storedVersions)/.test(text),
  },
  {
    reason: 'types that are parts of kinds have no description here, their fields have',
    matches: ({ step, text }) =>
      step.path?.startsWith('/openapi/') &&
      /description: got (nothing want "<description>"|"<description>" want nothing)$/.test(text),
  },
  {
    reason: 'the index of documents has an ETag here, and so other headers where a condition leaves nothing to send',
    matches: ({ step, text, want }) =>
      step.path?.split('?')[0] === '/openapi/v3' &&
      (text.startsWith('/etag: ') ||
        ([304, 412].includes(want?.status) && /^\/(last-modified|contentType): /.test(text))),
  },
  {
    reason: 'the watch cache of the reference cannot begin while the conversion webhook of its definition fails',
    matches: ({ want }) =>
      want?.events?.some(({ object }) => object?.details?.causes?.[0]?.reason === 'ResourceVersionTooLarge'),
  },
  {
    reason: 'with AllowUnsafeMalformedObjectDeletion a failed conversion is a damaged object in the reference',
    matches: ({ want }) => /object not decodable revision=\d+: /.test(JSON.stringify(want?.body ?? '')),
  },
  {
    reason: 'the version of the server is its own',
    matches: ({ step }) => step.path?.startsWith('/version'),
  },
]

const ERRORS_OF_MAPS =
  /cannot restore|cannot convert .* to|unrecognized type|declared merge key|field not declared in schema|duplicate entries for key|merging an object in json but/

/** The default of old kinds is to orphan what depends on the object. */
const waitsForCollector = ({ path, body }) =>
  body?.orphanDependents === true ||
  ['Orphan', 'Foreground'].includes(body?.propagationPolicy) ||
  (/\/(jobs|replicationcontrollers)\//.test(path) && body?.propagationPolicy === undefined)

const sortedLines = message => String(message).split('\n').toSorted().join('\n')

const appliesEmptyMap = ({ headers, body }) =>
  /apply-patch/.test(headers?.['content-type'] ?? '') && /:\s*\{\s*\}/.test(JSON.stringify(body ?? ''))

export const isKnown = difference => KNOWN.some(({ matches }) => matches(difference))
