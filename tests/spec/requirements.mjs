// runOnRequirements: whether a test applies to this server.

const parts = (version) => version.split('.').map(Number);
function compare(a, b) {
  const [x, y] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) - (y[i] ?? 0);
  return 0;
}

function meets(requirement, server) {
  if (requirement.minServerVersion && compare(server.version, requirement.minServerVersion) < 0) return false;
  if (requirement.maxServerVersion) {
    // "4.2.99" and "4.2" alike mean everything up to there.
    const max = requirement.maxServerVersion;
    if (compare(server.version.split('.').slice(0, parts(max).length).join('.'), max) > 0) return false;
  }
  if (requirement.topologies && !requirement.topologies.some((t) => t === 'sharded' || t === 'sharded-replicaset')) return false;
  if (requirement.serverless === 'require') return false;
  if (requirement.auth === true) return false;
  if (requirement.csfle) return false;
  return true;
}

/** True if any of the requirements (or none at all) is met. */
export const applies = (requirements, server) => !requirements || requirements.some((requirement) => meets(requirement, server));
