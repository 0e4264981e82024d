// The groups that the server itself adds to users, and the one whose members may do everything.
export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const MASTERS = 'system:masters'
export const NODES = 'system:nodes'
