def machine(): return {}
def line(f):
    return f"{f['name']}: {f['seconds']} s, acked {f['acknowledged']} kept {f['kept']} unacked {f['unacknowledged']} lost {len(f['lost'])} {f['statuses']} pauses {len(f['pauses'])} load {f['load']:.1f}"
